#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "joulecast/device/device.h"

namespace joulecast {

/// The engine that is meant where none is named; its calls are issued by whatever host is asked for.
inline bool is_torch(const std::string& engine) {
    static const OperatingPoint usual;
    return engine == usual.engine;
}

/// An engine that a worker is shipped for, joulecast-<name>, beside torch.
struct ShippedEngine {
    std::string_view name;
    std::string_view call;  ///< what a program writes to run a model under it
};

inline constexpr auto shipped_engines = std::to_array<ShippedEngine>({
    {"torch-compile", "torch.compile(model)"},
    {"onnxruntime", "onnxruntime.InferenceSession(\"model.onnx\")"},
    {"openvino", "openvino.compile_model(\"model.onnx\")"},
    {"tvm", "tvm.compile(module, target)"},
});

/// nullptr where none is shipped.
inline const ShippedEngine* shipped_engine(std::string_view name) {
    const auto* const found = std::ranges::find(shipped_engines, name, &ShippedEngine::name);
    return found == shipped_engines.end() ? nullptr : found;
}

/// Who issues the calls: "python"; of another engine than torch "cpp of onnxruntime".
inline std::string host_text(const OperatingPoint& point) {
    return std::string(name(point.host)) + (is_torch(point.engine) ? "" : " of " + point.engine);
}

}  // namespace joulecast
