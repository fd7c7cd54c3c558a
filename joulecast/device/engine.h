#pragma once

#include <string>

#include "joulecast/device/device.h"

namespace joulecast {

/// The engine that is meant where none is named; its calls are issued by whatever host is asked for.
inline bool is_torch(const std::string& engine) {
    static const OperatingPoint usual;
    return engine == usual.engine;
}

/// Who issues the calls: "python"; of another engine than torch "cpp of onnxruntime".
inline std::string host_text(const OperatingPoint& point) {
    return std::string(name(point.host)) + (is_torch(point.engine) ? "" : " of " + point.engine);
}

}  // namespace joulecast
