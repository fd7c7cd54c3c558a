#include "joulecast/forecast/compiled_calls.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/device/engine.h"
#include "joulecast/error.h"
#include "joulecast/forecast/fused_calls.h"
#include "joulecast/forecast/inductor_kernels.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/roofline.h"

namespace joulecast {
namespace {

constexpr const char* generated = "triton";

struct CompiledRole {
    std::string text;
    double kernel_s = std::numeric_limits<double>::quiet_NaN();
    double factor = 1;

    auto key() const { return std::tuple(text, std::isnan(kernel_s) ? -1 : kernel_s, factor); }
    bool operator<(const CompiledRole& other) const { return key() < other.key(); }
};

/// cuDNN's kernels take images as they are where channels lie last: a convolution is one matrix product, whose bytes
/// and arithmetic are in the way of each other by half. Of the bytes a part is in the cache. With a channel for each
/// group they take longer than their bytes. Fitted to timm's networks on one card (docs/decisions/0035).
constexpr double share_of_peak = 0.82;
constexpr double share_of_bytes = 0.85;
constexpr double depthwise_factor = 1.7;
/// Of groups of several channels, but not 4, 8, 16, 32 or another power of two: it has no kernel for these on tensor
/// cores (RegNetY, Visformer, DPN: 3 to 7).
constexpr double odd_groups_factor = 3.5;

double factor_of_groups(const Operation& operation) {
    if (is_depthwise(operation)) return depthwise_factor;
    const auto types = tensors(operation);
    if (types.size() < 2 || types[0]->sizes.size() < 2 || types[1]->sizes.size() < 2) return 1;
    const std::int64_t channels = types[1]->sizes[1];
    const bool is_grouped = types[0]->sizes[1] != channels;
    return is_grouped && !std::has_single_bit(static_cast<std::uint64_t>(channels)) ? odd_groups_factor : 1;
}

/// Units that have work: each computes a tile of this many rows and columns of the product at a time, so small batches
/// leave others idle. The tile is a usual one of cuDNN's, a judgement: all of timm's batches fill the card.
double busy_share(const Operation& operation, const Device& device) {
    constexpr double rows_of_tile = 128, columns_of_tile = 64;
    const auto product = matrix_product(operation);
    if (!product) return 1;
    const double tiles = static_cast<double>(product->batch) *
                         std::ceil(static_cast<double>(product->rows) / rows_of_tile) *
                         std::ceil(static_cast<double>(product->columns) / columns_of_tile);
    return std::clamp(tiles / device.units, 1.0 / device.units, 1.0);
}

double channels_last_s(const Operation& operation, const DeviceModel& device) {
    const Roofline limits = roofline(operation, device.device, device.point.math);
    const double rate = share_of_peak * busy_share(operation, device.device);
    const double whole = std::hypot(share_of_bytes * limits.byte_s, limits.flop_s / rate);
    return factor_of_groups(operation) * whole + device.device.kernel_latency_s;
}

/// Of tensor cores; float32 on others was not looked at.
bool is_faster_with_channels_last(const Operation& operation, const DeviceModel& device) {
    const Dtype type = compute_dtype(operation);
    return type == Dtype::f16 || type == Dtype::bf16 ||
           (type == Dtype::f32 && math_of(operation, device.point.math) == Math::tf32);
}

/// Triton compiles for NVIDIA's cards from Volta on. Of other vendors' the rule was never looked at.
bool is_too_old(const Device& device) {
    constexpr std::array older{"kepler", "maxwell", "pascal"};
    return std::ranges::find(older, device.architecture) != older.end();
}

class Roles {
  public:
    Roles(const Graph& graph, const DeviceModel& device)
        : graph_(graph), device_(device), calls_(inductor_calls(graph)), channels_last_(takes_channels_last(graph)) {}

    CompiledRole of(std::size_t node) const {
        const Operation& operation = graph_.nodes[node].operation;
        const InductorCall& call = calls_.at(node);
        switch (call.kind) {
            case InductorCall::Kind::nothing:
                return {role_not_run, 0, 0};
            case InductorCall::Kind::library:
                return of_library(operation);
            case InductorCall::Kind::code:
                break;
        }
        if (call.kernel != static_cast<std::int32_t>(node)) return {generated + ("+" + plain_name(operation)), 0, 0};
        return {generated, call.bytes / streamed_bytes_per_s(device_.device) + device_.device.kernel_latency_s};
    }

  private:
    CompiledRole of_library(const Operation& operation) const {
        std::string kind(name(family(operation)));
        if (family(operation) != Family::convolution) return {kind};
        if (is_depthwise(operation)) kind += "/depthwise";
        if (!channels_last_ || !is_faster_with_channels_last(operation, device_)) return {kind};
        return {kind + "/channels_last", channels_last_s(operation, device_)};
    }

    const Graph& graph_;
    const DeviceModel& device_;
    std::vector<InductorCall> calls_;
    bool channels_last_;
};

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

bool is_compiled_by_rule(const DeviceModel& device) {
    return device.unseen && device.device.kind == Device::Kind::gpu && device.point.engine == compiled_engine;
}

IssueOrder as_compiled(const IssueOrder& order, const Graph& graph, const DeviceModel& device) {
    if (graph.mode != Mode::inference || !graph.has_edges)
        throw Error("torch.compile is forecast by rule, which is of inference and of graphs with edges; " + graph.name +
                    (graph.has_edges ? " is asked for in training. Use --engine torch"
                                     : " is a list of operations. Use a graph with edges (joulecast help exporting)"));
    const Roles roles(graph, device);
    IssueOrder split;
    std::map<std::pair<std::uint32_t, CompiledRole>, std::uint32_t> places;
    for (IssuedCall call : order.calls) {
        const CompiledRole role = roles.of(static_cast<std::size_t>(call.node));
        const auto next = static_cast<std::uint32_t>(split.kinds.size());
        const auto [place, is_new] = places.try_emplace({call.kind, role}, next);
        if (is_new) {
            CallKind kind = order.kinds[call.kind];
            kind.count = 0;
            kind.role = role.text;
            kind.role_factor = role.factor;
            kind.kernel_s = role.kernel_s;
            split.kinds.push_back(std::move(kind));
        }
        call.kind = place->second;
        ++split.kinds[call.kind].count;
        split.calls.push_back(call);
    }
    return split;
}

FusedCalls compiled_calls(const IssueOrder& order) {
    FusionModel none;
    none.framework = "Inductor";
    return fused_calls(order, none);
}

}  // namespace joulecast
