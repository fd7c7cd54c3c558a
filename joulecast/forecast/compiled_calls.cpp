#include "joulecast/forecast/compiled_calls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "joulecast/device/engine.h"
#include "joulecast/forecast/channels_last_convolution.h"
#include "joulecast/forecast/depthwise_convolution.h"
#include "joulecast/forecast/fused_calls.h"
#include "joulecast/forecast/inductor_kernels.h"
#include "joulecast/forecast/kernel_bounds.h"
#include "joulecast/forecast/split_attention.h"
#include "joulecast/forecast/tensor_core_convolution.h"
#include "joulecast/graph/family.h"
#include "joulecast/graph/unsupported_error.h"
#include "joulecast/model/fusion_calls.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/roofline.h"

namespace joulecast {
namespace {

constexpr const char* generated = "triton";

/// Of generated code, over long streams.
constexpr double passes_of_generated_code = 1.04;
/// Of tensor cores; float32 on others was not looked at, and where TF32 brings nothing convolutions may stay in it.
bool is_faster_with_channels_last(const Operation& operation, const DeviceModel& device) {
    const Dtype type = compute_dtype(operation);
    return type == Dtype::f16 || type == Dtype::bf16 ||
           (type == Dtype::f32 && math_of(operation, device.point.math) == Math::tf32 && gains_by_tf32(device.device));
}

/// Triton compiles for NVIDIA's cards from Volta on. Of other vendors' the rule was never looked at.
bool is_too_old(const Device& device) {
    constexpr std::array older{"kepler", "maxwell", "pascal"};
    return std::ranges::find(older, device.architecture) != older.end();
}

bool is_odd(std::int64_t size) {
    return size % 2 != 0;
}

/// Inductor copies operands and results of a product to rows that kernels load whole, where that takes a tenth less
/// (torch/_inductor/fx_passes/pad_mm.py). That time; nothing where it leaves the product as it is.
std::optional<double> padded_s(const Operation& operation, const Device& device) {
    constexpr double least_gain = 1.1, share_of_most = 0.9;
    const Dtype dtype = compute_dtype(operation);
    const auto size = matrix_product(operation);
    if (!size || size->rows < 2 || size->columns < 2 || !takes_odd_rows_slowly(dtype, device)) return std::nullopt;
    const bool is_deep = is_odd(size->depth), is_wide = is_odd(size->columns);
    if (!is_deep && !is_wide) return std::nullopt;
    const auto elements = [&](std::int64_t rows, std::int64_t columns) {
        return static_cast<double>(size->batch) * static_cast<double>(rows) * static_cast<double>(columns);
    };
    double copied = elements(size->depth, size->columns);
    if (is_deep) copied += elements(size->rows, size->depth);
    if (is_wide) copied += elements(size->rows, size->columns);
    const Roofline limits = roofline(operation, device, Math::ieee);
    const double copies_s = 2 * copied * static_cast<double>(element_bytes(dtype)) / streamed_bytes_per_s(device);
    const double flop = 2 * elements(size->rows, size->columns) * static_cast<double>(size->depth);
    const double rate = share_of_most * most_flop_per_s(device, dtype, Math::ieee) * busy_share(operation, device);
    const double padded = std::max(limits.byte_s, flop / rate) + copies_s + 2 * device.kernel_latency_s;
    const double odd = std::max(limits.byte_s, flop / odd_rows_flop_per_s(device)) + device.kernel_latency_s;
    return padded * least_gain < odd ? std::optional(padded) : std::nullopt;
}

CallRole library_role(const Operation& operation, const DeviceModel& device, bool channels_last) {
    const std::string kind = role_by_family(operation);
    if (family(operation) == Family::matmul) {
        if (const auto seconds = padded_s(operation, device.device))
            return {.text = kind + "/padded", .kernel_s = seconds};
    }
    if (runs_split_attention(operation, device.device)) {
        const PreparedOperation call = prepare(operation, device.device, math_of(operation, device.point.math));
        return {.text = kind + "/split", .kernel_s = compiled_split_attention_s(call, device.device)};
    }
    if (family(operation) != Family::convolution || !channels_last || !is_faster_with_channels_last(operation, device))
        return {.text = kind};
    const PreparedOperation call = prepare(operation, device.device, math_of(operation, device.point.math));
    const double seconds = is_depthwise(operation) ? channels_last_depthwise_s(call.dimensions, device.device)
                                                   : channels_last_convolution_s(call, device.device);
    return {.text = kind + "/channels_last", .kernel_s = seconds + device.device.kernel_latency_s};
}

std::vector<CallRole> compiled_roles(const Graph& graph, const DeviceModel& device) {
    const bool channels_last = takes_channels_last(graph);
    std::vector<CallRole> roles;
    for (const InductorCall& call : inductor_calls(graph)) {
        const auto node = static_cast<std::int32_t>(roles.size());
        const Operation& operation = graph.nodes[roles.size()].operation;
        if (call.kind == InductorCall::Kind::nothing) {
            roles.push_back({.text = role_not_run, .factor = 0});
        } else if (call.kind == InductorCall::Kind::library) {
            roles.push_back(library_role(operation, device, channels_last));
        } else if (call.kernel != node) {
            roles.push_back({.text = generated + ("+" + plain_name(operation)), .factor = 0});
        } else {
            const double moving_s = passes_of_generated_code * call.bytes / streamed_bytes_per_s(device.device);
            roles.push_back({.text = generated, .kernel_s = moving_s + device.device.kernel_latency_s});
        }
    }
    return roles;
}

}  // namespace

std::vector<DeviceModel> compiled_by_rule(std::span<const DeviceModel> models) {
    std::vector<DeviceModel> compiled;
    for (const DeviceModel& model : models) {
        const Device& device = model.device;
        const bool is_known = device.kind == Device::Kind::gpu && device.vendor == "nvidia" && !is_too_old(device);
        if (!model.unseen || !is_known || !is_torch(model.point.engine)) continue;
        compiled.push_back(model);
        compiled.back().point.engine = compiled_engine;
    }
    return compiled;
}

bool is_issued_by_torch(const std::string& engine) {
    return is_torch(engine) || engine == compiled_engine;
}

bool is_compiled_by_rule(const DeviceModel& device) {
    return device.unseen && device.device.kind == Device::Kind::gpu && device.point.engine == compiled_engine;
}

IssueOrder as_compiled(const IssueOrder& order, const Graph& graph, const DeviceModel& device) {
    if (graph.mode != Mode::inference || !graph.has_edges)
        throw UnsupportedError(
            "torch.compile is forecast by rule, which is of inference and of graphs with edges; " + graph.name +
            (graph.has_edges ? " is asked for in training. Use --engine torch"
                             : " is a list of operations. Use a graph with edges (joulecast help exporting)"));
    return with_roles(order, compiled_roles(graph, device));
}

FusedCalls compiled_calls(const IssueOrder& order) {
    FusionModel none;
    none.framework = "Inductor";
    return fused_calls(order, none);
}

}  // namespace joulecast
