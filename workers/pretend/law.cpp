#include "workers/pretend/law.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "joulecast/graph/family.h"

namespace joulecast::pretend {
namespace {

constexpr double shortest_s = 2e-7;
constexpr double widest_tile = 128;
/// Products are split along their depth into eight parts at most, no shallower than this.
constexpr double most_splits = 8;
constexpr double least_split_depth = 256;
/// Narrower products than this go to the vector units, as depth-wise convolutions do.
constexpr double least_columns = 8;
/// Of the power of running, what is not drawn while a kernel starts.
constexpr double launch_gated_share = 0.65;
constexpr double hz = 1e6;  // per MHz

/// 16-bit and tf32 products: on matrix units, at little energy.
bool is_narrow(const Kernel& kernel, const Setting& setting) {
    return element_bytes(kernel.dtype) <= 2 || (kernel.dtype == Dtype::f32 && setting.math == Math::tf32);
}

double units(const Card& card, const Setting& setting) {
    const int units = std::max(1, card.sheet.units);
    return card.is_gpu() || setting.threads <= 0 ? units : std::min(units, setting.threads);
}

double relative_clock(const Card& card, const Setting& setting) {
    return setting.sm_clock_mhz / card.sheet.boost_clock_mhz;
}

double product_share(const Card& card, Family family) {
    if (family == Family::convolution) return card.convolution_share;
    return family == Family::attention ? card.attention_share : card.matrix_share;
}

double stream_share(const Card& card, const Kernel& kernel) {
    switch (kernel.family) {
        case Family::indexing:
            return card.gather_share;
        case Family::normalization:
        case Family::softmax:
        case Family::pooling:
        case Family::reduction:
        case Family::loss:
            return card.several_pass_share;
        default:
            return kernel.strided ? card.strided_share : 1.0;
    }
}

bool is_product(const Kernel& kernel) {
    return kernel.rows > 0 && kernel.columns >= least_columns;
}

/// One way to cut a product into tiles.
struct Tiling {
    double compute_s = std::numeric_limits<double>::infinity();
    double cache_bytes = 0;
};

Tiling tiled(const Card& card, const Kernel& kernel, const Setting& setting, double tile) {
    const double across = std::ceil(kernel.columns / tile);
    const double down = std::ceil(kernel.rows / tile);
    const double tiles = kernel.batch * across * down;
    const double room =
        std::min({most_splits, std::floor(units(card, setting) / tiles), std::floor(kernel.depth / least_split_depth)});
    const double splits = std::max(1.0, room);
    const double depth = kernel.depth / splits;
    const double half = is_narrow(kernel, setting) ? card.half_depth_narrow : card.half_depth;
    double share = product_share(card, kernel.family) * depth / (depth + half);
    for (double wider = tile; wider < widest_tile; wider *= 2) share *= card.small_tile_share;
    const double peak = peak_flop_per_s(card.sheet, kernel.dtype, setting.math);
    const double unit_rate = peak * share * relative_clock(card, setting) / card.sheet.units;
    Tiling tiling;
    tiling.compute_s = std::ceil(tiles * splits / units(card, setting)) * 2.0 * tile * tile * depth / unit_rate;
    const double elements = kernel.depth * (kernel.rows * across + kernel.columns * down) * kernel.batch;
    tiling.cache_bytes = elements * static_cast<double>(element_bytes(kernel.dtype));
    return tiling;
}

/// Arithmetic and traffic to the last cache.
Tiling arithmetic(const Card& card, const Kernel& kernel, const Setting& setting) {
    const double vector_rate = vector_flop_per_s(card.sheet, kernel.dtype) * card.vector_share *
                               relative_clock(card, setting) * units(card, setting) / card.sheet.units;
    const double on_vectors = kernel.other_flop + (is_product(kernel) ? 0.0 : kernel.flop);
    Tiling best;
    if (is_product(kernel)) {
        for (double tile = widest_tile; tile >= widest_tile / 4; tile /= 2) {
            const Tiling tiling = tiled(card, kernel, setting, tile);
            if (tiling.compute_s < best.compute_s) best = tiling;
        }
    } else {
        best.compute_s = 0;
    }
    best.compute_s += on_vectors / vector_rate;
    best.cache_bytes = std::max(best.cache_bytes, kernel.bytes_read) + kernel.bytes_written;
    return best;
}

double memory_rate(const Card& card, const Setting& setting) {
    const double by_memory =
        card.sheet.bandwidth_bytes_per_s * card.bandwidth_share * card.memory_ratio(setting.memory_clock_mhz);
    const double by_units = units(card, setting) * card.memory_bytes_per_cycle * setting.sm_clock_mhz * hz;
    return std::min(by_memory, by_units);
}

double joule_per_flop(const Card& card, const Kernel& kernel, const Setting& setting) {
    return is_narrow(kernel, setting) && is_product(kernel) ? card.joule_per_flop_narrow : card.joule_per_flop_fp32;
}

void add(Effort& sum, const Effort& part) {
    sum.busy_s += part.busy_s;
    sum.switched_j += part.switched_j;
    sum.memory_j += part.memory_j;
    sum.kernels += part.kernels;
}

}  // namespace

double cached_share(const Card& card, double bytes_since) {
    return 1.0 / (1.0 + std::pow(bytes_since / card.sheet.last_level_cache_bytes, card.cache_steepness));
}

Effort effort(const Card& card, const Kernel& kernel, const Setting& setting) {
    const double x = relative_clock(card, setting);
    const Tiling work = arithmetic(card, kernel, setting);
    // Half of what is written where reads hit is overwritten before it reaches the memory.
    const double misses =
        kernel.bytes_read * (1.0 - kernel.cached) + kernel.bytes_written * (1.0 - 0.5 * kernel.cached);
    const double cache_rate = units(card, setting) * card.cache_bytes_per_cycle * setting.sm_clock_mhz * hz;
    const double memory_s = (misses / stream_share(card, kernel) + card.bytes_in_flight) / memory_rate(card, setting);
    const double bytes_s = std::max(work.cache_bytes / cache_rate, memory_s);
    const double launch_s = card.launch_s * (1.0 - card.launch_clocked_share + card.launch_clocked_share / x);
    Effort result;
    result.busy_s =
        launch_s + std::max(work.compute_s, bytes_s) + card.overlap_rest * std::min(work.compute_s, bytes_s);
    result.switched_j =
        kernel.flop * joule_per_flop(card, kernel, setting) + kernel.other_flop * card.joule_per_flop_fp32 +
        work.cache_bytes * card.joule_per_cache_byte +
        card.busy_w * x * (result.busy_s - launch_gated_share * launch_s) * units(card, setting) / card.sheet.units;
    result.memory_j = misses * card.joule_per_memory_byte;
    result.kernels = 1;
    return result;
}

double issue_s(const Card& card, const Step& step, const Setting& setting) {
    const auto kernels = static_cast<double>(step.kernels.size());
    if (setting.host == Host::graph) return card.graph_call_s * kernels;
    if (step.backward) return card.cpp_call_s * card.backward_call_share * std::max(1.0, kernels);
    const double call_s = setting.host == Host::python ? card.python_call_s : card.cpp_call_s;
    if (step.kernels.empty()) return call_s * card.view_call_share;
    return call_s + (kernels - 1.0) * card.cpp_call_s;
}

Effort effort(const Card& card, const Work& work, const Setting& setting) {
    Effort sum;
    double device_s = 0;  // when the device has done all that was issued
    for (const Step& step : work) {
        Effort part;
        for (const Kernel& kernel : step.kernels) add(part, effort(card, kernel, setting));
        sum.host_s += issue_s(card, step, setting);
        add(sum, part);
        const double issued_s = card.is_gpu() ? sum.host_s : sum.host_s + sum.busy_s - part.busy_s;
        device_s = std::max(device_s, issued_s) + part.busy_s;
        if (step.synchronises && card.is_gpu()) sum.host_s = std::max(sum.host_s, device_s);
    }
    sum.busy_s = std::max(sum.busy_s, shortest_s);
    sum.span_s = std::max(device_s, sum.host_s);
    return sum;
}

}  // namespace joulecast::pretend
