#include "joulecast/physics/physical_power.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "joulecast/physics/process_node.h"

namespace joulecast {
namespace {

/// What a vector unit of recent cards draws at full rate, in watts for each FLOP/s of fp32: 15.5 to 16.5 W per TFLOP/s
/// on 7 to 16 nm.
constexpr double lane_watts_per_flop_per_s = 16e-12;

/// Static power over the clock: 0.12 of TDP whatever the clock, 0.03 that grows with it (idle power of A100 and H100
/// over their clocks), as shares of their sum.
constexpr double still_share = 0.8;
constexpr double static_voltage_exponent = 1.25;

constexpr double knee_width = 0.015;

/// log(1 + exp(a)) that does not overflow.
double softplus(double a) {
    return std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a)));
}

double voltage(double relative_clock) {
    constexpr double room = 1 - physical_knee;
    const double above = knee_width * softplus((relative_clock - physical_knee) / knee_width);
    return 1 + physical_slope * room * std::pow(above / room, 1.5);
}

double lanes_demand_w(const Device& device) {
    const double peak = device.vector_flop_per_s_fp32 / device.sustained_fp32_share;
    return lane_watts_per_flop_per_s * peak * node_power_share(device);
}

}  // namespace

double relative_voltage(double relative_clock) {
    return voltage(relative_clock) / voltage(1);
}

std::string missing_for_power(const Device& device) {
    std::string missing;
    const auto need = [&missing](const char* name, double figure) {
        if (!(figure > 0)) missing += (missing.empty() ? "" : ", ") + std::string(name);
    };
    need("tdp_w", device.tdp_w);
    need("vector_flop_per_s_fp32", device.vector_flop_per_s_fp32);
    return missing;
}

double running_share(const PhysicalPower& model) {
    const double of_time = model.matrix + model.tensor;
    const double whole = of_time + model.flop * busy_activity.flop_share + model.byte * busy_activity.byte_share;
    return whole > 0 ? of_time / whole : 0;
}

double dynamic_scale_w(const Device& device) {
    if (!missing_for_power(device).empty()) return Device::unknown;
    return std::sqrt(device.tdp_w * lanes_demand_w(device));
}

double static_w(const PhysicalPower& model, const Device& device, double relative_clock) {
    const double at_highest = device.idle_w > 0 ? device.idle_w : model.still * device.tdp_w;
    return at_highest * (still_share + (1 - still_share) * relative_clock) *
           std::pow(relative_voltage(relative_clock), static_voltage_exponent);
}

double unlimited_watts(const PhysicalPower& model, const Device& device, const Activity& activity,
                       double relative_clock) {
    const double v = relative_voltage(relative_clock);
    const double of_work = model.flop * activity.flop_share + model.byte * activity.byte_share;
    const double of_time = model.matrix * activity.matrix_share + model.tensor * activity.tensor_share +
                           model.other * activity.other_share;
    return static_w(model, device, relative_clock) +
           dynamic_scale_w(device) * v * v * (of_work + relative_clock * of_time);
}

double watts(const PhysicalPower& model, const Device& device, const Activity& activity, double limit_w,
             double relative_clock) {
    const double whole = unlimited_watts(model, device, activity, relative_clock);
    if (std::isnan(whole)) return whole;
    return std::min(whole, limit_or_tdp_w(limit_w, device));
}

Estimate<Watts> watts_90(const PhysicalPower& model, const Device& device, const Activity& activity, double limit_w,
                         double relative_clock) {
    return held_90(model, device, unlimited_watts(model, device, activity, relative_clock), limit_w);
}

Estimate<Watts> held_90(const PhysicalPower& model, const Device& device, double unlimited_w, double limit_w) {
    if (std::isnan(unlimited_w)) return {};
    const double limit = limit_or_tdp_w(limit_w, device);
    const auto at = [&](double factor) { return std::min(unlimited_w * factor, limit); };
    const double factor = std::exp(model.half_width);
    return {Watts(at(1)), Watts(at(1 / factor) / meter_gain), Watts(at(factor) * meter_gain)};
}

}  // namespace joulecast
