#include "joulecast/features/feature.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "joulecast/physics/memory.h"

namespace joulecast {
namespace {

using C = FeatureContext;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Zero and below have no logarithm; zero bytes or FLOPs are shown one octave below a single one.
double log2_or_missing(double x) {
    return x > 0 ? std::log2(x) : (x == 0 ? -1.0 : missing);
}
double ratio(double a, double b) {
    return a > 0 && b > 0 ? std::log2(a / b) : missing;
}
double flag(bool yes) {
    return yes ? 1.0 : 0.0;
}

double flops(const C& c) {
    const Counts counts = c.dimensions.forward + c.dimensions.backward;
    return static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop);
}
double bytes(const C& c) {
    const Counts counts = c.dimensions.forward + c.dimensions.backward;
    return static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written);
}
double footprint(const C& c) {
    return c.dimensions.input_bytes + c.dimensions.weight_bytes + c.dimensions.output_bytes;
}
double channels_per_group(const C& c) {
    return c.dimensions.c / c.dimensions.groups;
}
double multiple_of(double x, double divisor) {
    return std::isnan(x) ? missing : flag(std::fmod(x, divisor) == 0);
}
double remainder_of(double x, double divisor) {
    return std::isnan(x) ? missing : std::fmod(x, divisor);
}
double log_seconds(double s) {
    return s > 0 ? std::log(s) : missing;
}

/// Winograd applies to ungrouped 3x3 convolutions of stride and dilation 1.
double winograd(const C& c) {
    const Dimensions& d = c.dimensions;
    if (std::isnan(d.groups)) return missing;
    return flag(d.kernel_h == 3 && d.kernel_w == 3 && d.stride == 1 && d.dilation == 1 && d.groups == 1);
}
/// Blocks of 1024 outputs over the units that work on them: small ones leave units without any.
double waves(const C& c) {
    return ratio(std::ceil(c.dimensions.elements_out / 1024), static_cast<double>(c.device.units));
}
/// Square tiles of the result that the blocks of a matrix product compute, over those that run at once: two on a unit
/// of 128 lanes.
double tile_waves(const C& c, double edge) {
    const Dimensions& d = c.dimensions;
    const double tiles = d.gemm_b * std::ceil(d.gemm_m / edge) * std::ceil(d.gemm_n / edge);
    return tiles / (static_cast<double>(c.device.units) * c.device.fp32_lanes_per_unit / 64);
}
/// The last wave runs alone, however few tiles it has.
double tile_tail(const C& c, double edge) {
    const double waves = tile_waves(c, edge);
    return ratio(std::ceil(waves), waves);
}
/// Tiles overhang the result.
double tile_waste(const C& c, double edge) {
    const Dimensions& d = c.dimensions;
    return ratio(std::ceil(d.gemm_m / edge) * edge * std::ceil(d.gemm_n / edge) * edge, d.gemm_m * d.gemm_n);
}
/// How far the roofline is from a kernel's latency, told only where they are near each other.
double over_latency(const C& c) {
    const double octaves = ratio(seconds(c.roofline), c.device.kernel_latency_s);
    return std::isnan(octaves) ? -6 : std::clamp(octaves, -6.0, 5.0);
}
double has_argument(const C& c, std::string_view name) {
    const Value* value = find_argument(c.operation, name);
    return flag(value && !std::holds_alternative<None>(*value));
}
const TensorType* input(const C& c, std::size_t index) {
    const auto inputs = tensors(c.operation);
    return index < inputs.size() ? inputs[index] : nullptr;
}
double memory_order(const C& c, std::size_t index) {
    const TensorType* type = input(c, index);
    return type ? static_cast<double>(static_cast<int>(layout(*type))) : missing;
}
double needs_gradient(const C& c, std::size_t index) {
    const TensorType* type = input(c, index);
    return type ? flag(type->requires_grad) : missing;
}
double dtype_bits(const C& c) {
    return 8.0 * static_cast<double>(element_bytes(compute_dtype(c.operation)));
}
double broadcast(const C& c) {
    const TensorType* a = input(c, 0);
    const TensorType* b = input(c, 1);
    return a && b ? flag(a->sizes != b->sizes) : missing;
}
double transposed_inputs(const C& c) {
    double count = 0;
    for (const TensorType* type : tensors(c.operation)) count += flag(layout(*type) >= Layout::permuted);
    return count;
}
double batch_statistics(const C& c) {
    const Value* value = find_argument(c.operation, "training");
    const bool* yes = value ? std::get_if<bool>(value) : nullptr;
    return flag(yes && *yes);
}

using enum Tells;
constexpr bool one_dimension = true;

constexpr Feature list[] = {
    {"n", "log2", [](const C& c) { return log2_or_missing(c.dimensions.n); }, call, one_dimension},
    {"c", "log2", [](const C& c) { return log2_or_missing(c.dimensions.c); }, call, one_dimension},
    {"h", "log2", [](const C& c) { return log2_or_missing(c.dimensions.h); }, call, one_dimension},
    {"w", "log2", [](const C& c) { return log2_or_missing(c.dimensions.w); }, call, one_dimension},
    {"k", "log2", [](const C& c) { return log2_or_missing(c.dimensions.k); }, call, one_dimension},
    {"oh", "log2", [](const C& c) { return log2_or_missing(c.dimensions.oh); }, call, one_dimension},
    {"ow", "log2", [](const C& c) { return log2_or_missing(c.dimensions.ow); }, call, one_dimension},
    {"last", "log2", [](const C& c) { return log2_or_missing(c.dimensions.last); }, call, one_dimension},
    {"rank", "1", [](const C& c) { return c.dimensions.rank; }, call, one_dimension},
    {"inputs", "1", [](const C& c) { return c.dimensions.inputs; }},
    {"groups", "log2", [](const C& c) { return log2_or_missing(c.dimensions.groups); }},
    {"input_bytes", "log2 byte", [](const C& c) { return log2_or_missing(c.dimensions.input_bytes); }},
    {"weight_bytes", "log2 byte", [](const C& c) { return log2_or_missing(c.dimensions.weight_bytes); }},
    {"output_bytes", "log2 byte", [](const C& c) { return log2_or_missing(c.dimensions.output_bytes); }},
    {"in_over_out", "log2", [](const C& c) { return ratio(c.dimensions.elements_in, c.dimensions.elements_out); }},
    {"flops", "log2 FLOP", [](const C& c) { return log2_or_missing(flops(c)); }, product},
    {"bytes", "log2 byte", [](const C& c) { return log2_or_missing(bytes(c)); }},
    {"intensity", "log2 FLOP/byte", [](const C& c) { return ratio(flops(c), bytes(c)); }, product},
    {"flop_time", "log2 s", [](const C& c) { return log2_or_missing(c.roofline.flop_s); }, one_device},
    {"byte_time", "log2 s", [](const C& c) { return log2_or_missing(c.roofline.byte_s); }, one_device},
    {"roofline_time", "log2 s", [](const C& c) { return log2_or_missing(seconds(c.roofline)); }, one_device},
    {"flop_over_byte_time", "log2", [](const C& c) { return ratio(c.roofline.flop_s, c.roofline.byte_s); }, product},
    {"backward_share", "1",
     [](const C& c) {
         const auto b = static_cast<double>(c.dimensions.backward.bytes_read + c.dimensions.backward.bytes_written);
         return bytes(c) > 0 ? b / bytes(c) : missing;
     },
     product},
    {"c_per_group", "log2", [](const C& c) { return log2_or_missing(channels_per_group(c)); }, call, one_dimension},
    {"k_per_group", "log2", [](const C& c) { return log2_or_missing(c.dimensions.k / c.dimensions.groups); }, call,
     one_dimension},
    {"n_times_c", "log2", [](const C& c) { return log2_or_missing(c.dimensions.n * c.dimensions.c); }, call,
     one_dimension},
    {"k_over_c", "log2", [](const C& c) { return ratio(c.dimensions.k, c.dimensions.c); }, call, one_dimension},
    {"gemm_batch", "log2", [](const C& c) { return log2_or_missing(c.dimensions.gemm_b); }, product},
    {"gemm_m", "log2", [](const C& c) { return log2_or_missing(c.dimensions.gemm_m); }, product},
    {"gemm_n", "log2", [](const C& c) { return log2_or_missing(c.dimensions.gemm_n); }, product},
    {"gemm_k", "log2", [](const C& c) { return log2_or_missing(c.dimensions.gemm_k); }, product},
    {"gemm_smallest", "log2",
     [](const C& c) {
         const Dimensions& d = c.dimensions;
         return log2_or_missing(std::min({d.gemm_m, d.gemm_n, d.gemm_k}));
     },
     product},
    {"gemm_k_mod_16", "1", [](const C& c) { return remainder_of(c.dimensions.gemm_k, 16); }, product},
    {"gemm_n_mod_16", "1", [](const C& c) { return remainder_of(c.dimensions.gemm_n, 16); }, product},
    {"reduced", "log2", [](const C& c) { return log2_or_missing(c.dimensions.reduced); }},
    {"c_mod_64", "1", [](const C& c) { return remainder_of(c.dimensions.c, 64); }, call, one_dimension},
    {"k_mod_64", "1", [](const C& c) { return remainder_of(c.dimensions.k, 64); }, call, one_dimension},
    {"c_aligned_4", "flag", [](const C& c) { return multiple_of(c.dimensions.c, 4); }, call, one_dimension},
    {"k_aligned_8", "flag", [](const C& c) { return multiple_of(c.dimensions.k, 8); }, call, one_dimension},
    {"waves", "log2", waves, product},
    {"kernel_h", "1", [](const C& c) { return c.dimensions.kernel_h; }},
    {"kernel_w", "1", [](const C& c) { return c.dimensions.kernel_w; }},
    {"stride", "1", [](const C& c) { return c.dimensions.stride; }},
    {"padding", "1", [](const C& c) { return c.dimensions.padding; }},
    {"dilation", "1", [](const C& c) { return c.dimensions.dilation; }},
    {"depthwise", "flag", [](const C& c) { return flag(is_depthwise(c.operation)); }},
    {"pointwise", "flag", [](const C& c) { return flag(c.dimensions.kernel_h == 1 && c.dimensions.kernel_w == 1); }},
    {"winograd", "flag", winograd},
    {"c_aligned_16", "flag", [](const C& c) { return multiple_of(c.dimensions.c, 16); }, call, one_dimension},
    {"k_aligned_16", "flag", [](const C& c) { return multiple_of(c.dimensions.k, 16); }, call, one_dimension},
    {"last_aligned_16", "flag", [](const C& c) { return multiple_of(c.dimensions.last, 16); }},
    {"footprint_over_cache", "log2", [](const C& c) { return ratio(footprint(c), c.device.last_level_cache_bytes); },
     product},
    {"weight_over_cache", "log2",
     [](const C& c) { return ratio(c.dimensions.weight_bytes, c.device.last_level_cache_bytes); }},
    {"output_per_unit", "log2 byte",
     [](const C& c) { return ratio(c.dimensions.output_bytes, static_cast<double>(c.device.units)); }, one_device},
    {"in_place", "flag", [](const C& c) { return flag(is_in_place(c.operation)); }},
    {"bias", "flag", [](const C& c) { return has_argument(c, "bias"); }},
    {"mask", "flag", [](const C& c) { return has_argument(c, "attn_mask"); }},
    {"broadcast", "flag", broadcast},
    {"layout_0", "0 contiguous, 1 channels_last, 2 permuted, 3 gapped, 4 expanded",
     [](const C& c) { return memory_order(c, 0); }},
    {"layout_1", "0 contiguous, 1 channels_last, 2 permuted, 3 gapped, 4 expanded",
     [](const C& c) { return memory_order(c, 1); }},
    {"transposed_inputs", "1", transposed_inputs, product},
    {"dtype_bits", "bit", dtype_bits, product},
    {"training", "flag", [](const C& c) { return flag(mode(c.operation) == Mode::training); }, product},
    {"gradient_0", "flag", [](const C& c) { return needs_gradient(c, 0); }},
    {"gradient_1", "flag", [](const C& c) { return needs_gradient(c, 1); }},
    {"batch_statistics", "flag", batch_statistics},
    {"target", "index among the trained targets", [](const C& c) { return c.target_index; }},
    {"law_time", "ln s", [](const C& c) { return c.law ? log_seconds(seconds(*c.law, c.roofline)) : missing; },
     one_device},
    {"work_over_floor", "ln",
     [](const C& c) {
         return c.law && c.law->floor_s > 0 ? log_seconds(work_seconds(*c.law, c.roofline) / c.law->floor_s) : missing;
     },
     one_device},
    {"law_floor", "ln s", [](const C& c) { return c.law ? log_seconds(c.law->floor_s) : missing; }, one_device},
    {"tile_waves_128", "log2", [](const C& c) { return log2_or_missing(tile_waves(c, 128)); }, product},
    {"tile_tail_128", "log2", [](const C& c) { return tile_tail(c, 128); }, product},
    {"tile_waste_128", "log2", [](const C& c) { return tile_waste(c, 128); }, product},
    {"tile_waves_64", "log2", [](const C& c) { return log2_or_missing(tile_waves(c, 64)); }, product},
    {"tile_tail_64", "log2", [](const C& c) { return tile_tail(c, 64); }, product},
    {"tile_waste_64", "log2", [](const C& c) { return tile_waste(c, 64); }, product},
    {"tile_waste_32", "log2", [](const C& c) { return tile_waste(c, 32); }, product},
    {"over_latency", "log2", over_latency, product},
    {"clock", "of the highest", [](const C& c) { return c.clocks.x; }, one_device},
    {"memory_clock", "of the highest", [](const C& c) { return c.clocks.y; }, one_device},
};

}  // namespace

std::span<const Feature> features() {
    return list;
}

const Feature* find_feature(std::string_view name) {
    const auto found = std::find_if(std::begin(list), std::end(list), [&](const Feature& f) { return f.name == name; });
    return found == std::end(list) ? nullptr : found;
}

float value_or_missing(const Feature& feature, const FeatureContext& context) {
    const double value = feature.value(context);
    return std::isfinite(value) ? static_cast<float>(value) : std::numeric_limits<float>::quiet_NaN();
}

std::vector<float> feature_row(std::span<const Feature* const> wanted, const FeatureContext& context) {
    std::vector<float> row;
    row.reserve(wanted.size());
    for (const Feature* feature : wanted) row.push_back(value_or_missing(*feature, context));
    return row;
}

}  // namespace joulecast
