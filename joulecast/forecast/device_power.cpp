#include "joulecast/forecast/device_power.h"

#include <algorithm>
#include <cmath>

#include "joulecast/features/products.h"
#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// Whether products of the operation's type run on units of their own: then these have a higher rate than the vector
/// units.
bool has_matrix_units(const Operation& operation, const Device& device, Math math) {
    const Dtype type = compute_dtype(operation);
    return peak_flop_per_s(device, type, math) > vector_flop_per_s(device, type);
}

/// What a multiprocessor's resident threads move at once: two thousand of them, 16 bytes in and 16 out each.
constexpr double bytes_per_unit = 2048 * 32;
/// What threads draw of it that wait for others: batch norm of 7 x 7 planes in bf16 takes an H200 135 to 160 W above
/// idle, of large planes 350, and works for a sixth of the time (datasets/h200.csv).
constexpr double waiting_share = 0.3;
/// Edge of the tiles that products are cut into, and that a product of fewer rows or columns does not fill.
constexpr double tile_edge = 128;

/// Whether matrix products do its work: a depthwise convolution is summed up place by place, as other kernels are.
bool works_as_product(const PreparedOperation& operation) {
    return multiplies_matrices(operation.family()) && !is_depthwise(operation.operation);
}

/// How much of a device a call keeps at work.
struct Occupied {
    double units = 1;   ///< share of the device's units that it gives work to: the others draw what idle ones do
    double filled = 1;  ///< share of the tiles of matrix units that its products fill
};

/// H100, ResNet-50 with one image: 21 W above idle where the same kernels on all units would draw 130. Units that share
/// a tile's sums count for one: they wait more than they work. A product of few rows waits for its weights, and the
/// matrix units with it: H200 and B200, one to 64 rows (docs/energy.md).
Occupied occupied_by(const PreparedOperation& operation, const Device& device) {
    if (!(device.units > 0)) return {};
    const Products made = works_as_product(operation)
                              ? products(operation.operation, operation.dimensions, static_cast<int>(device.units))
                              : Products{};
    if (made.count == 0) {
        const double bytes = operation.roofline.byte_s * device.bandwidth_bytes_per_s;
        const double at_work = waiting_share + (1 - waiting_share) * share_at_work(operation, device);
        return {at_work * std::min(1.0, bytes / (bytes_per_unit * device.units)), 1};
    }
    Occupied sum{0, 0};
    for (std::size_t i = 0; i < made.count; ++i) {
        const ProductSize& size = made.sizes[i];
        const double tiles = size.batch * std::ceil(size.columns / tile_edge) * std::ceil(size.rows / tile_edge);
        sum.units += std::min(1.0, tiles / device.units);
        sum.filled += std::min({1.0, size.rows / tile_edge, size.columns / tile_edge});
    }
    const auto count = static_cast<double>(made.count);
    return {sum.units / count, sum.filled / count};
}

}  // namespace

double relative_clock(const Device& device, const OperatingPoint& point) {
    const double highest = highest_clock_mhz(device);
    const double clock = point.sm_clock_mhz;
    return clock > 0 && highest > 0 ? std::min(1.0, clock / highest) : 1;
}

double relative_clock(const DeviceModel& device) {
    return relative_clock(device.device, device.point);
}

bool has_physical_power(const DeviceModel& device) {
    return !device.published && !device.power.known() && device.device.kind == Device::Kind::gpu &&
           missing_for_power(device.device).empty();
}

PowerFacts power_facts_of(const DeviceModel& device) {
    if (!has_physical_power(device)) return device.power;
    const PhysicalPower& model = device.physical_power;
    const double x = relative_clock(device);
    PowerFacts facts;
    facts.cap_w = limit_or_tdp_w(device.point.power_limit_w, device.device);
    facts.idle_w = std::min(static_w(model, device.device, x), facts.cap_w);
    facts.busy_w = watts(model, device.device, busy_activity, facts.cap_w, x);
    // What the model is wrong by on a device, it is wrong by in every operation: nothing of it averages out.
    facts.sigma_power = model.half_width / normal_90;
    facts.sigma_energy = std::hypot(facts.sigma_power, device.sigma_network);  // no network told of both at once
    return facts;
}

std::string why_no_power(const DeviceModel& device) {
    std::string why = "no power measured on this device";
    if (device.device.kind != Device::Kind::gpu) return why;
    const std::string missing = missing_for_power(device.device);
    if (!missing.empty()) why += ", and its data sheet lacks " + missing;
    return why;
}

Activity activity(const PreparedOperation& operation, const Device& device, Math math, double seconds,
                  double kernel_seconds) {
    if (costs_nothing(operation.family()) || !(seconds > 0)) return {};
    const auto share = [seconds](double part) { return std::clamp(part / seconds, 0.0, 1.0); };
    const Occupied occupied = occupied_by(operation, device);
    const double kernels = share(kernel_seconds) * occupied.units;
    const bool is_matrix = works_as_product(operation);
    const bool is_tensor = is_matrix && has_matrix_units(operation.operation, device, math);
    // Its coefficients are for shares of the data sheet's rates, not of what a card sustains of them.
    const bool is_fp32 = compute_dtype(operation.operation) == Dtype::f32 && !(is_matrix && math == Math::tf32);
    const double of_peak = is_fp32 ? device.sustained_fp32_share : 1;
    return {share(of_peak * operation.roofline.flop_s),
            share(device.sustained_bandwidth_share * operation.roofline.byte_s), is_matrix ? kernels : 0,
            is_matrix ? 0 : kernels, is_tensor ? kernels * occupied.filled : 0};
}

PhysicalWatts physical_watts(const DeviceModel& device, const PreparedOperation& operation, double seconds,
                             double kernel_seconds) {
    const Activity doing = activity(operation, device.device, operation.math, seconds, kernel_seconds);
    const double unlimited = unlimited_watts(device.physical_power, device.device, doing, relative_clock(device));
    Estimate<Watts> power = held_90(device.physical_power, device.device, unlimited, device.point.power_limit_w);
    if (costs_nothing(operation.family())) power.high = std::max(power.high, Watts(power_facts_of(device).busy_w));
    return {power, unlimited};
}

}  // namespace joulecast
