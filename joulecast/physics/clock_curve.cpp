#include "joulecast/physics/clock_curve.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "joulecast/physics/law.h"
#include "joulecast/physics/learned_clocks.h"
#include "joulecast/physics/stacked_memory.h"

namespace joulecast {
namespace {

constexpr double knee_width = 0.015;
constexpr double static_voltage_exponent = 1.25;
constexpr double least_dynamic_share = 0.02;  // of the power at the known point
constexpr double below_knee = 0.10;
constexpr double highest_bandwidth_knee = 0.75;

/// (a^16 + b^16)^(1/16): nearly the larger, since memory and network on the chip hardly get into each other's way.
double slower_of(double a, double b) {
    const double larger = std::max(a, b);
    double power = std::min(a, b) / larger;
    for (int doubled = 0; doubled < 4; ++doubled) power *= power;
    double root = 1 + power;
    for (int halved = 0; halved < 4; ++halved) root = std::sqrt(root);
    return larger * root;
}

double softplus_of(double a) {
    return std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a)));
}

bool is_before_volta(const Device& device) {
    for (const std::string_view older : {"fermi", "kepler", "maxwell", "pascal"}) {
        if (device.architecture == older) return true;
    }
    return false;
}

/// Bytes that a unit's share of the chip's network moves in a cycle: 13 fits Volta, Turing and the graphics cards of
/// Ampere, 16 the A100.
double bytes_per_unit_and_cycle(const Device& device) {
    const bool is_recent = device.release_year >= 2020 && has_stacked_memory(device);
    return is_recent ? 16 : 13;
}

double bandwidth_knee_of(const Device& device) {
    const double per_cycle = bytes_per_unit_and_cycle(device) * device.units;
    const double clock_mhz = device.bandwidth_bytes_per_s / per_cycle / 1e6;
    const double knee = clock_mhz / highest_clock_mhz(device);
    return knee > 0 ? std::min(knee, highest_bandwidth_knee) : highest_bandwidth_knee;
}

struct ClockSteps {
    std::string_view architecture;
    double lowest_mhz;
    double step_mhz;
};

/// What `nvidia-smi -q -d SUPPORTED_CLOCKS` lists on a card of each (A100, V100, T4, P100, GTX 980, L4, H100, B200);
/// cards of one architecture differ a little at the low end.
constexpr ClockSteps clock_steps[] = {
    {"kepler", 324, 13}, {"maxwell", 135, 12.5}, {"pascal", 139, 12.5},     {"volta", 135, 7.5}, {"turing", 300, 15},
    {"ampere", 210, 15}, {"ada", 210, 15},       {"ada lovelace", 210, 15}, {"hopper", 210, 15}, {"blackwell", 120, 15},
};

ClockSteps steps_of(const Device& device) {
    for (const ClockSteps& steps : clock_steps) {
        if (device.architecture == steps.architecture) return steps;
    }
    return {"", 0.15 * highest_clock_mhz(device), 15};  // an architecture that is not known: most of the range
}

/// The measured points on either side of a clock, and how far between them it lies; the same twice beyond the ends.
struct Neighbours {
    const IdlePoint* below = nullptr;  ///< null: no point tells of that
    const IdlePoint* above = nullptr;
    double share = 0;

    double between(double low, double high) const { return low + share * (high - low); }
};

Neighbours neighbours(const std::vector<IdlePoint>& points, double IdlePoint::* of, double clock_mhz) {
    const IdlePoint* below = nullptr;
    for (const IdlePoint& point : points) {
        if (std::isnan(point.*of)) continue;
        if (point.sm_clock_mhz >= clock_mhz) {
            if (!below) return {&point, &point, 0};
            return {below, &point, (clock_mhz - below->sm_clock_mhz) / (point.sm_clock_mhz - below->sm_clock_mhz)};
        }
        below = &point;
    }
    return {below, below, 0};
}

/// Idle power as measured, between two clocks along its voltage: with the knee between them a straight line would be
/// too high. NaN where none was measured. `voltage` is the relative one at x.
double measured_idle_w(const ClockParameters& parameters, double x, double voltage) {
    const Neighbours sides = neighbours(parameters.idle, &IdlePoint::power_w, x * parameters.highest_mhz);
    if (!sides.below) return std::numeric_limits<double>::quiet_NaN();
    const auto at_lowest_voltage = [&](const IdlePoint& point) {
        const double there = relative_voltage(parameters, point.sm_clock_mhz / parameters.highest_mhz);
        return point.power_w / std::pow(there, static_voltage_exponent);
    };
    return std::pow(voltage, static_voltage_exponent) *
           sides.between(at_lowest_voltage(*sides.below), at_lowest_voltage(*sides.above));
}

/// `voltage` is the relative one at x.
double static_w_at(const ClockParameters& parameters, double x, double y, double voltage) {
    const double of_memory = parameters.memory_w * (1 - y);
    const double measured = measured_idle_w(parameters, x, voltage);
    if (!std::isnan(measured)) return measured - of_memory;
    const double still = parameters.still_w + parameters.clocked_w * x;
    return still * std::pow(voltage, static_voltage_exponent) - of_memory;
}

double slowed_kernel(const KernelTime& kernel, double x, double slowdown) {
    const double arithmetic = kernel.compute / x;
    const double bytes = kernel.memory * slowdown;
    return std::cbrt(arithmetic * arithmetic * arithmetic + bytes * bytes * bytes) + kernel.latency / x + kernel.steady;
}

double lowest_voltage_mv(const std::vector<IdlePoint>& points) {
    double lowest = std::numeric_limits<double>::quiet_NaN();
    for (const IdlePoint& point : points) lowest = std::fmin(lowest, point.voltage_mv);
    return lowest;
}

}  // namespace

std::string missing_for_clocks(const Device& device) {
    if (device.kind != Device::Kind::gpu) return "clocks of a CPU";
    std::string missing;
    const auto need = [&missing](const char* name, double figure) {
        if (!(figure > 0)) missing += (missing.empty() ? "" : ", ") + std::string(name);
    };
    need("max_clock_mhz", highest_clock_mhz(device));
    need("tdp_w", device.tdp_w);
    need("bandwidth_bytes_per_s", device.bandwidth_bytes_per_s);
    return missing;
}

ClockParameters default_clock_parameters(const Device& device) {
    ClockParameters parameters;
    parameters.highest_mhz = highest_clock_mhz(device);
    parameters.memory_mhz = device.memory_clock_mhz;
    const ClockSteps steps = steps_of(device);
    parameters.lowest_mhz = std::min(steps.lowest_mhz, parameters.highest_mhz);
    parameters.step_mhz = steps.step_mhz;
    const bool is_old = is_before_volta(device);
    const bool is_stacked = has_stacked_memory(device);
    parameters.knee = is_old ? 0.82 : 0.70;
    parameters.slope = is_old ? 0.75 : 0.80;
    parameters.still_w = (is_old && !is_stacked ? 0.27 : 0.12) * device.tdp_w;
    parameters.clocked_w = 0.03 * device.tdp_w;
    parameters.memory_w = is_stacked ? 0 : 0.06 * device.tdp_w;
    parameters.bandwidth_knee = bandwidth_knee_of(device);
    parameters.spread = {0.25, 0.25, 0.20};  // in sight of the sweeps of docs/clocks-model.md
    return parameters;
}

std::vector<double> clock_table_mhz(const Device& device) {
    std::vector<double> table;
    if (!missing_for_clocks(device).empty()) return table;
    if (!device.core_clocks_mhz.empty()) return device.core_clocks_mhz;
    const ClockParameters parameters = default_clock_parameters(device);
    // From the highest down: that one is known from the sheet.
    for (double clock = parameters.highest_mhz; clock > parameters.lowest_mhz - parameters.step_mhz / 2;
         clock -= parameters.step_mhz)
        table.push_back(std::floor(clock));
    std::reverse(table.begin(), table.end());
    return table;
}

double lowest_chosen_mhz(const ClockParameters& parameters) {
    return std::max(parameters.lowest_mhz, (parameters.knee - below_knee) * parameters.highest_mhz);
}

double relative_voltage(const ClockParameters& parameters, double x) {
    const Neighbours sides = neighbours(parameters.idle, &IdlePoint::voltage_mv, x * parameters.highest_mhz);
    if (sides.below) {
        return sides.between(sides.below->voltage_mv, sides.above->voltage_mv) / lowest_voltage_mv(parameters.idle);
    }
    const double above = knee_width * softplus_of((x - parameters.knee) / knee_width);
    const double room = 1 - parameters.knee;
    return 1 + parameters.slope * room * std::pow(above / room, parameters.bend);
}

double static_w(const ClockParameters& parameters, double x, double y) {
    return static_w_at(parameters, x, y, relative_voltage(parameters, x));
}

double bytes_slowdown(const ClockParameters& parameters, double x, double y) {
    return slower_of(1 / y, parameters.bandwidth_knee / x);
}

double kernel_time(const KernelTime& kernel, const ClockParameters& parameters, double x, double y) {
    return slowed_kernel(kernel, x, bytes_slowdown(parameters, x, y));
}

KernelTime of_compute_share(double share) {
    const double bounded = std::clamp(share, 0.0, 1.0);
    return {std::cbrt(bounded), std::cbrt(1 - bounded), 0};
}

double clock_distance(double x, double y, const ClockedPoint& from) {
    return std::hypot(std::log(x / from.x), std::log(y / from.y));
}

WorkloadCurve::WorkloadCurve(ClockParameters parameters, std::vector<KernelTime> kernels, double host,
                             ClockedPoint known, WorkloadTraits traits)
    : parameters_(std::move(parameters)), kernels_(std::move(kernels)), host_(host), known_(known) {
    known_device_ = untaught_device(known_.x, known_.y);
    const double by_form = known_.power_w * std::exp(-miss_at(parameters_.residuals, known_.x, known_.y).power);
    known_voltage_ = relative_voltage(parameters_, known_.x);
    dynamic_w_ = std::max(by_form - static_w(parameters_, known_.x, known_.y), least_dynamic_share * by_form);
    if (parameters_.learned)
        learned_ = std::make_shared<const LearnedCurve>(LearnedCurve(parameters_, known_, std::move(traits)));
}

double WorkloadCurve::untaught_device(double x, double y) const {
    const double slowdown = bytes_slowdown(parameters_, x, y);
    double sum = 0;
    for (const KernelTime& kernel : kernels_) sum += slowed_kernel(kernel, x, slowdown);
    return sum * std::exp(miss_at(parameters_.residuals, x, y).time);
}

double WorkloadCurve::device(double x, double y) const {
    const double untaught = untaught_device(x, y);
    if (!learned_ || !(known_device_ > 0)) return untaught;
    return known_device_ * std::exp(learned_->log_time(x, y, std::log(untaught / known_device_)));
}

double WorkloadCurve::device_ratio(double x, double y) const {
    return known_device_ > 0 ? device(x, y) / known_device_ : 1;
}

double WorkloadCurve::time_s(double x, double y) const {
    const double known = overlapped(host_, known_device_);
    return known > 0 ? known_.time_s * overlapped(host_, device(x, y)) / known : known_.time_s;
}

double WorkloadCurve::compute_share(double x, double y) const {
    const double slowdown = bytes_slowdown(parameters_, x, y);
    double compute = 0, memory = 0;
    for (const KernelTime& kernel : kernels_) {
        const bool computes = kernel.compute / x > kernel.memory * slowdown;
        (computes ? compute : memory) += slowed_kernel({kernel.compute, kernel.memory, 0}, x, slowdown);
    }
    return compute + memory > 0 ? compute / (compute + memory) : std::numeric_limits<double>::quiet_NaN();
}

double WorkloadCurve::untaught_power_w(double x, double y) const {
    const double voltage = relative_voltage(parameters_, x);
    const double risen = voltage / known_voltage_;
    const double known = overlapped(host_, known_device_);
    const double device = untaught_device(x, y);
    const double rate = known > 0 ? known / overlapped(host_, device) : 1;
    const double running = parameters_.running_share;
    const double runs_longer = known_device_ > 0 ? device / known_device_ : 1;
    const double work = rate * (1 - running + running * x / known_.x * runs_longer);
    const double steady = parameters_.steady_share;
    const double by_form =
        static_w_at(parameters_, x, y, voltage) + dynamic_w_ * risen * risen * ((1 - steady) * work + steady);
    return by_form * std::exp(miss_at(parameters_.residuals, x, y).power);
}

double WorkloadCurve::power_w(double x, double y) const {
    const double untaught = untaught_power_w(x, y);
    if (!learned_ || !(known_.power_w > 0)) return untaught;
    return known_.power_w * std::exp(learned_->log_power(x, y, std::log(untaught / known_.power_w)));
}

double WorkloadCurve::within_limit(double asked, double limit_w, double y) const {
    if (!(power_w(asked, y) > limit_w)) return asked;
    double low = std::min(asked, parameters_.lowest_mhz / parameters_.highest_mhz);
    double high = asked;
    if (power_w(low, y) > limit_w) return low;
    while (high - low > 1e-6) {
        const double middle = (low + high) / 2;
        (power_w(middle, y) > limit_w ? high : low) = middle;
    }
    return low;
}

}  // namespace joulecast
