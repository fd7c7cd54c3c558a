#include "joulecast/predict/at_point.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/learned_clocks.h"
#include "joulecast/predict/clock_balance.h"
#include "joulecast/predict/compose.h"
#include "joulecast/predict/device_power.h"
#include "joulecast/predict/over_clocks.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// Clocks within this share are the same.
constexpr double same_clock = 0.002;
/// Cards let their limit be raised a little above the one they are sold with.
constexpr double most_over_tdp = 1.25;
/// What the control loop of a power limit leaves of it.
constexpr double share_of_limit = 0.995;
/// Kernels whose balances lie within this many octaves count as one: their sums differ from the curve by less than
/// 1e-3.
constexpr double balance_octaves = 0.25;

double kernel_seconds(const OperationForecast& operation) {
    if (!std::isnan(operation.kernel_s)) return operation.kernel_s;
    const double call = operation.cost.device_time.value.value();
    return beyond_floor(call, std::min(call, operation.cost.host_time.value.value()));
}

struct Place {
    double x = 1;
    double y = 1;
};

double over(double clock, double highest) {
    return clock > 0 && highest > 0 ? clock / highest : 1;
}

Place place_of(const OperatingPoint& point, const ClockParameters& parameters) {
    return {over(point.sm_clock_mhz, parameters.highest_mhz), over(point.memory_clock_mhz, parameters.memory_mhz)};
}

int balance_class(const KernelTime& balance) {
    constexpr double farthest = 8;
    const double octaves = std::log2(balance.compute / balance.memory);
    return static_cast<int>(std::lround(std::clamp(octaves, -farthest, farthest) / balance_octaves));
}

/// Kernels of like balance together; `place` is where the forecast holds.
std::vector<KernelTime> kernels_of(const NetworkForecast& forecast, const ClockParameters& parameters, Place place) {
    std::map<int, KernelTime> classes;
    KernelTime latency;
    for (const OperationForecast& operation : forecast.operations) {
        const double seconds = kernel_seconds(operation);
        if (!(seconds > 0)) continue;
        const auto count = static_cast<double>(operation.count);
        const KernelTime parts = with_latency(operation.balance, seconds, parameters, place.x, place.y);
        latency.latency += count * parts.latency;
        if (!(parts.compute + parts.memory > 0)) continue;
        KernelTime& sum = classes[parts.memory > 0 ? balance_class(parts) : 1000];
        sum.compute += count * parts.compute;
        sum.memory += count * parts.memory;
    }
    std::vector<KernelTime> kernels;
    for (const auto& [octaves, sum] : classes) kernels.push_back(sum);
    if (latency.latency > 0) kernels.push_back(latency);
    return kernels;
}

/// What the network would draw if no limit held it; NaN where the forecast has no power.
double unlimited_watts(const NetworkForecast& forecast, const DeviceModel& device) {
    const double power = forecast.power.value.value();
    const double time = forecast.time.value.value();
    // Over clocks it stands at the clock that the limit leaves.
    if (forecast.limited_by != Bound::power_cap || !(time > 0) || !forecast.at_clocks.empty()) return power;
    const NetworkParts parts = parts_of(forecast.operations);
    const NetworkCorrection correction =
        network_correction(device, std::string(name(forecast.mode)) + "|" + forecast.precision);
    const double whole = power_facts_of(device).idle_w + correction.energy_factor * parts.dynamic_j / time;
    return std::max(power, whole);
}

/// The kernels' and the host's time in the units of each other.
WorkloadCurve curve_from(const NetworkForecast& forecast, const ClockParameters& parameters, ClockedPoint known) {
    std::vector<KernelTime> kernels = kernels_of(forecast, parameters, {known.x, known.y});
    double sum = 0;
    for (const KernelTime& kernel : kernels) sum += kernel_time(kernel, parameters, known.x, known.y);
    const double device = forecast.cost.device_time.value.value();
    const double scale = sum > 0 ? device / sum : 0;
    for (KernelTime& kernel : kernels) {
        kernel.compute *= scale;
        kernel.memory *= scale;
        kernel.latency *= scale;
    }
    const double host = forecast.cost.host_time.value.value();
    const WorkloadTraits traits{forecast.model, memory_active_of(kernels)};
    return {parameters, std::move(kernels), std::isnan(host) ? 0 : host, known, traits};
}

/// A forecast that the power limit holds is one for the clock that the limit leaves: there its time and power are
/// known.
WorkloadCurve forecast_curve(const NetworkForecast& forecast, const DeviceModel& device) {
    const ClockParameters parameters = clock_parameters(device);
    const Place place = place_of(forecast.point, parameters);
    ClockedPoint known{place.x, place.y, forecast.time.value.value(), unlimited_watts(forecast, device)};
    const double power = forecast.power.value.value();
    if (!(known.power_w > power)) return curve_from(forecast, parameters, known);
    const WorkloadCurve unlimited = curve_from(forecast, parameters, known);
    known.x = unlimited.within_limit(known.x, power, known.y);
    known.power_w = power;
    return curve_from(forecast, parameters, known);
}

template <class Unit>
Estimate<Unit> moved_to(const Estimate<Unit>& from, double value, double sigma) {
    if (std::isnan(value)) return {};
    const auto widened = [&](Unit bound) {
        const double own = std::abs(std::log(bound.value() / from.value.value()));
        return std::hypot(std::isfinite(own) ? own : 0, normal_90 * sigma);
    };
    return {Unit(value), Unit(value * std::exp(-widened(from.low))), Unit(value * std::exp(widened(from.high)))};
}

template <class Unit>
double log_half_width(const Estimate<Unit>& estimate) {
    return normal_90 * log_sigma(estimate);
}

template <class Unit>
Estimate<Unit> within(double value, double half_width, double sigma) {
    const double half = std::hypot(half_width, normal_90 * sigma);
    return {Unit(value), Unit(value * std::exp(-half)), Unit(value * std::exp(half))};
}

std::string whole(double value) {
    return std::to_string(std::llround(value));
}

double device_limit_w(const DeviceModel& device) {
    if (device.point.power_limit_w > 0) return device.point.power_limit_w;
    const double cap = power_facts_of(device).cap_w;
    return cap > 0 ? cap : device.device.tdp_w;
}

PointForecast known_point(const NetworkForecast& forecast) {
    return {forecast.asked,  forecast.point, forecast.time,          forecast.cost.device_time, forecast.cost.host_time,
            forecast.energy, forecast.power, forecast.idle_energy_j, forecast.dynamic_energy_j, forecast.limited_by};
}

Evidence carried(Evidence evidence, const ClockParameters& parameters) {
    if (evidence != Evidence::measured && evidence != Evidence::interpolated) return evidence;
    return parameters.workloads > 0 ? Evidence::interpolated : Evidence::extrapolated;
}

/// One call at the clocks of `to`.
void move(OperationForecast& operation, const ClockParameters& parameters, Place from, Place to) {
    const double call = operation.cost.device_time.value.value();
    const double kernel = kernel_seconds(operation);
    operation.evidence = carried(operation.evidence, parameters);
    if (!(call > 0) || !(kernel > 0)) return;
    const KernelTime parts = with_latency(operation.balance, kernel, parameters, from.x, from.y);
    const double floor = std::max(0.0, operation.cost.host_time.value.value());
    ClockParameters of_call = parameters;
    of_call.learned = {};  // from whole workloads
    const WorkloadCurve curve(std::move(of_call), {parts}, std::isnan(operation.kernel_s) ? floor : 0,
                              {from.x, from.y, call, operation.power.value.value()});
    const double distance = clock_distance(to.x, to.y, {from.x, from.y});
    const double seconds = curve.time_s(to.x, to.y);
    const double watts = curve.power_w(to.x, to.y);
    operation.cost.device_time = moved_to(operation.cost.device_time, seconds, distance * parameters.spread.time);
    if (!std::isnan(operation.kernel_s)) operation.kernel_s *= curve.device_ratio(to.x, to.y);
    if (!operation.power.known()) return;
    operation.power = moved_to(operation.power, watts, distance * parameters.spread.power);
    const double sigma = distance * parameters.spread.energy;
    operation.energy = moved_to(operation.energy, watts * seconds, sigma);
    const double above = std::max(0.0, watts - static_w(parameters, to.x, to.y));
    operation.cost.dynamic_energy = moved_to(operation.cost.dynamic_energy, above * seconds, sigma);
}

bool has_calls_at_clocks(const NetworkForecast& forecast) {
    const std::size_t calls = forecast.operations.size();
    return calls > 0 && !forecast.at_clocks.empty() &&
           std::ranges::all_of(forecast.at_clocks,
                               [calls](const ForecastAtClock& one) { return one.calls.size() == calls; });
}

template <class Unit>
Estimate<Unit> between(const Estimate<Unit>& a, const Estimate<Unit>& b, double share) {
    const auto mixed = [share](Unit low, Unit high) {
        if (share == 0 || !(low.value() > 0 && high.value() > 0)) return low;
        return Unit(std::exp((1 - share) * std::log(low.value()) + share * std::log(high.value())));
    };
    return {mixed(a.value, b.value), mixed(a.low, b.low), mixed(a.high, b.high)};
}

/// The trained clocks on either side of a place, and how far between them it lies.
struct Neighbours {
    const ForecastAtClock* below = nullptr;
    const ForecastAtClock* above = nullptr;
    Place at;  ///< `to`, or the end of the trained clocks that is nearest to it
    double share = 0;
};

Neighbours neighbours(const NetworkForecast& forecast, const ClockParameters& parameters, Place to) {
    const auto place = [&](const ForecastAtClock& one) {
        const ClockPlace at = joulecast::place_of(parameters, one.sm_clock_mhz, one.memory_clock_mhz);
        return Place{at.x, at.y};
    };
    const double y = place(*std::ranges::min_element(forecast.at_clocks, {}, [&](const ForecastAtClock& one) {
                         return std::abs(std::log(place(one).y / to.y));
                     })).y;
    Neighbours found;
    for (const ForecastAtClock& one : forecast.at_clocks) {
        const Place at = place(one);
        if (at.y != y) continue;
        if (at.x <= to.x * (1 + same_clock) && (!found.below || at.x > place(*found.below).x)) found.below = &one;
        if (at.x >= to.x * (1 - same_clock) && (!found.above || at.x < place(*found.above).x)) found.above = &one;
    }
    if (!found.below) found.below = found.above;
    if (!found.above) found.above = found.below;
    const double low = place(*found.below).x, high = place(*found.above).x;
    found.at = {std::clamp(to.x, std::min(low, high), std::max(low, high)), y};
    if (high > low) found.share = std::log(found.at.x / low) / std::log(high / low);
    return found;
}

/// Every call as forecast at the trained clocks on either side; beyond them, from the nearest by the curve.
void move_between(NetworkForecast& moved, const ClockParameters& parameters, Place to) {
    const Neighbours sides = neighbours(moved, parameters, to);
    const bool is_there = sides.share == 0 || sides.below == sides.above;
    for (std::size_t i = 0; i < moved.operations.size(); ++i) {
        OperationForecast& operation = moved.operations[i];
        const CallAtClock& below = sides.below->calls[i];
        const CallAtClock& above = sides.above->calls[i];
        operation.cost.device_time = between(below.time, above.time, sides.share);
        operation.power = between(below.power, above.power, sides.share);
        operation.cost.dynamic_energy = between(below.dynamic_energy, above.dynamic_energy, sides.share);
        operation.evidence = is_there ? below.evidence : carried(below.evidence, parameters);
        const double seconds = operation.cost.device_time.value.value();
        if (!std::isnan(operation.kernel_s)) operation.kernel_s = seconds;
        if (operation.power.known()) {
            operation.energy = {Joules(operation.power.value.value() * seconds),
                                Joules(operation.power.low.value() * seconds),
                                Joules(operation.power.high.value() * seconds)};
        }
        if (std::abs(sides.at.x / to.x - 1) > same_clock || std::abs(sides.at.y / to.y - 1) > same_clock)
            move(operation, parameters, sides.at, to);
    }
}

void share_evidence(NetworkForecast& forecast) {
    double total = 0;
    for (const OperationForecast& operation : forecast.operations) {
        const double time = operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        forecast.evidence_share[operation.evidence] += time;
        total += time;
    }
    for (auto& [evidence, share] : forecast.evidence_share) share = total > 0 ? share / total : 0;
}

/// How much longer the optimizer's calls take; where they are not listed, how much longer everything takes.
double update_stretch(const NetworkForecast& before, const NetworkForecast& after) {
    const auto seconds = [](const NetworkForecast& forecast) {
        double sum = 0;
        for (const OperationForecast& operation : forecast.operations) {
            if (operation.part == StepPart::update)
                sum += operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        }
        return sum;
    };
    const double listed = seconds(before);
    return listed > 0 ? seconds(after) / listed : after.time.value / before.time.value;
}

}  // namespace

ClockParameters clock_parameters(const DeviceModel& device) {
    if (device.clocks) return *device.clocks;
    const std::string missing = missing_for_clocks(device.device);
    if (!missing.empty())
        throw UsageError("nothing is known of " + device.device.id + " at other clocks: " +
                         (device.device.kind == Device::Kind::cpu ? std::string("clock models are of GPUs")
                                                                  : "its data sheet lacks " + missing) +
                         ". Leave clocks and power limits out.");
    ClockParameters parameters = default_clock_parameters(device.device);
    const double idle = power_facts_of(device).idle_w;
    const Place place = place_of(device.point, parameters);
    const double by_sheet = static_w(parameters, place.x, place.y);
    if (idle > 0 && by_sheet > 0) {
        for (double* part : {&parameters.still_w, &parameters.clocked_w, &parameters.memory_w})
            *part *= idle / by_sheet;
    }
    return parameters;
}

ForecastCurve::ForecastCurve(const NetworkForecast& forecast, const DeviceModel& device)
    : known_(known_point(forecast)),
      limit_w_(device_limit_w(device)),
      asked_x_(1),
      tdp_w_(device.device.tdp_w),
      curve_(forecast_curve(forecast, device)) {
    asked_x_ = place_of(forecast.point, curve_.parameters()).x;
    anchor(forecast);
    if (anchors_.empty()) return;
    asked_x_ = forecast.asked.sm_clock_mhz > 0 ? forecast.asked.sm_clock_mhz / curve_.parameters().highest_mhz
                                               : std::ranges::max_element(anchors_, {}, &Anchor::x)->x;
}

void ForecastCurve::anchor(const NetworkForecast& forecast) {
    for (const ForecastAtClock& one : forecast.at_clocks) {
        const ClockPlace at = joulecast::place_of(curve_.parameters(), one.sm_clock_mhz, one.memory_clock_mhz);
        Anchor& anchor = anchors_.emplace_back();
        anchor.x = at.x;
        anchor.y = at.y;
        anchor.time = std::log(one.time.value.value() / curve_.time_s(at.x, at.y));
        const double device = known_.device_time.value.value() * curve_.device_ratio(at.x, at.y);
        if (device > 0) anchor.device = std::log(one.device_time.value.value() / device);
        anchor.time_half_width = log_half_width(one.time);
        if (!one.power.known()) continue;
        anchor.power = std::log(one.power.value.value() / curve_.power_w(at.x, at.y));
        anchor.power_half_width = log_half_width(one.power);
        anchor.energy_half_width = log_half_width(one.energy);
    }
}

ForecastCurve::Anchor ForecastCurve::at_anchors(double x, double y) const {
    if (anchors_.empty()) return {};
    const auto mixed = [](const Anchor& a, const Anchor& b, double share) {
        Anchor both;
        for (double Anchor::*of : {&Anchor::time, &Anchor::device, &Anchor::power, &Anchor::time_half_width,
                                   &Anchor::power_half_width, &Anchor::energy_half_width})
            both.*of = (1 - share) * (a.*of) + share * (b.*of);
        return both;
    };
    const auto share_of = [](double value, double low, double high) {
        return high > low ? std::clamp(std::log(value / low) / std::log(high / low), 0.0, 1.0) : 0;
    };
    const auto at_memory = [&](double memory) {
        const Anchor* below = nullptr;
        const Anchor* above = nullptr;
        for (const Anchor& one : anchors_) {
            if (one.y != memory) continue;
            if (one.x <= x && (!below || one.x > below->x)) below = &one;
            if (one.x >= x && (!above || one.x < above->x)) above = &one;
        }
        if (!below) below = above;
        if (!above) above = below;
        return mixed(*below, *above, share_of(x, below->x, above->x));
    };
    double lower = anchors_.front().y, upper = anchors_.back().y;
    for (const Anchor& one : anchors_) {
        if (one.y <= y) lower = std::max(lower, one.y);
        if (one.y >= y) upper = std::min(upper, one.y);
    }
    return mixed(at_memory(lower), at_memory(upper), share_of(y, lower, upper));
}

double ForecastCurve::distance(double x, double y) const {
    if (anchors_.empty()) return clock_distance(x, y, curve_.known());
    const auto [low, high] = std::ranges::minmax(anchors_, {}, &Anchor::x);
    const double nearest_y = std::clamp(y, anchors_.front().y, anchors_.back().y);
    ClockedPoint nearest;
    nearest.x = std::clamp(x, low.x, high.x);
    nearest.y = nearest_y;
    return clock_distance(x, y, nearest);
}

double ForecastCurve::power_w(double x, double y) const {
    return curve_.power_w(x, y) * std::exp(at_anchors(x, y).power);
}

double ForecastCurve::within_limit(double asked, double limit_w, double y) const {
    if (anchors_.empty()) return curve_.within_limit(asked, limit_w, y);
    if (!(power_w(asked, y) > limit_w)) return asked;
    const ClockParameters& parameters = curve_.parameters();
    double low = std::min(asked, parameters.lowest_mhz / parameters.highest_mhz);
    double high = asked;
    if (power_w(low, y) > limit_w) return low;
    while (high - low > 1e-6) {
        const double middle = (low + high) / 2;
        (power_w(middle, y) > limit_w ? high : low) = middle;
    }
    return low;
}

void ForecastCurve::check(const OperatingPoint& asked) const {
    const ClockParameters& parameters = curve_.parameters();
    const std::string device = known_.real.device.empty() ? "the device" : known_.real.device;
    // Half a step beyond the ends is a rounded clock of the table.
    const double slack = parameters.step_mhz / 2;
    if (asked.sm_clock_mhz < parameters.lowest_mhz - slack || asked.sm_clock_mhz > parameters.highest_mhz + slack)
        throw UsageError(device + " runs at " + whole(std::ceil(parameters.lowest_mhz)) + " to " +
                         whole(std::floor(parameters.highest_mhz)) + " MHz, not at " + whole(asked.sm_clock_mhz) +
                         " MHz");
    const double memory = asked.memory_clock_mhz;
    if (!std::isnan(memory) && !(parameters.memory_mhz > 0))
        throw UsageError("the data sheet of " + device + " has no memory clock: leave it out");
    if (memory < 0.1 * parameters.memory_mhz || memory > 1.2 * parameters.memory_mhz)
        throw UsageError("the memory of " + device + " runs at up to " + whole(parameters.memory_mhz) +
                         " MHz, not at " + whole(memory) + " MHz");
    const double least = static_w(parameters, parameters.lowest_mhz / parameters.highest_mhz);
    if (asked.power_limit_w < least || asked.power_limit_w > most_over_tdp * tdp_w_)
        throw UsageError(device + " can be limited to between " + whole(std::ceil(least)) + " W (idle) and " +
                         whole(std::floor(most_over_tdp * tdp_w_)) + " W, not to " + whole(asked.power_limit_w) + " W");
}

PointForecast ForecastCurve::at(const OperatingPoint& asked) const {
    check(asked);
    const ClockParameters& parameters = curve_.parameters();
    PointForecast point = known_;
    point.asked.sm_clock_mhz = std::isnan(asked.sm_clock_mhz) ? known_.asked.sm_clock_mhz : asked.sm_clock_mhz;
    point.asked.memory_clock_mhz =
        std::isnan(asked.memory_clock_mhz) ? known_.asked.memory_clock_mhz : asked.memory_clock_mhz;
    point.asked.power_limit_w = std::isnan(asked.power_limit_w) ? known_.asked.power_limit_w : asked.power_limit_w;
    const ClockedPoint& known = curve_.known();
    const double wanted =
        std::isnan(asked.sm_clock_mhz) ? asked_x_ : std::min(1.0, asked.sm_clock_mhz / parameters.highest_mhz);
    const double y = std::isnan(asked.memory_clock_mhz) ? known.y : asked.memory_clock_mhz / parameters.memory_mhz;
    const double limit = std::isnan(asked.power_limit_w) ? limit_w_ : asked.power_limit_w;
    const double x = within_limit(wanted, share_of_limit * limit, y);
    const double watts = power_w(x, y);
    // At its lowest clock and still above the limit, the device stops and goes.
    const double stretch = watts > limit ? watts / limit : 1;
    const Anchor anchor = at_anchors(x, y);
    const double sigma = distance(x, y) * parameters.spread.time;
    const double device =
        known_.device_time.value.value() * curve_.device_ratio(x, y) * std::exp(anchor.device) * stretch;
    point.real.sm_clock_mhz = x * parameters.highest_mhz;
    if (parameters.memory_mhz > 0) point.real.memory_clock_mhz = y * parameters.memory_mhz;
    point.real.power_limit_w = limit;
    const double seconds = curve_.time_s(x, y) * std::exp(anchor.time) * stretch;
    if (anchors_.empty()) {
        point.time = moved_to(known_.time, seconds, sigma);
        point.device_time = moved_to(known_.device_time, device, sigma);
    } else {
        point.time = within<Seconds>(seconds, anchor.time_half_width, sigma);
        point.device_time = within<Seconds>(device, anchor.time_half_width, sigma);
    }
    point.limited_by = x < wanted - 1e-9 || stretch > 1          ? Bound::power_cap
                       : known_.host_time.value.value() > device ? Bound::host
                                                                 : Bound::device;
    if (known_.energy.known()) set_energy(point, x, y, stretch);
    return point;
}

void ForecastCurve::set_energy(PointForecast& point, double x, double y, double stretch) const {
    const ClockSpread& spread = curve_.parameters().spread;
    const double away = distance(x, y);
    const double watts = power_w(x, y) / stretch;
    const double seconds = point.time.value.value();
    if (anchors_.empty()) {
        point.power = moved_to(known_.power, watts, away * spread.power);
        point.energy = moved_to(known_.energy, watts * seconds, away * spread.energy);
    } else {
        const Anchor anchor = at_anchors(x, y);
        point.power = within<Watts>(watts, anchor.power_half_width, away * spread.power);
        point.energy = within<Joules>(watts * seconds, anchor.energy_half_width, away * spread.energy);
    }
    point.idle_energy_j = std::min(watts, static_w(curve_.parameters(), x, y)) * seconds;
    point.dynamic_energy_j = watts * seconds - point.idle_energy_j;
}

NetworkForecast at_point(const NetworkForecast& forecast, const DeviceModel& device, const OperatingPoint& asked) {
    return at_point(forecast, ForecastCurve(forecast, device), asked);
}

NetworkForecast at_point(const NetworkForecast& forecast, const ForecastCurve& curve, const OperatingPoint& asked) {
    const PointForecast point = curve.at(asked);
    NetworkForecast moved = forecast;
    moved.asked = point.asked;
    moved.point = point.real;
    moved.time = point.time;
    moved.cost.device_time = point.device_time;
    moved.limited_by = point.limited_by;
    moved.energy = point.energy;
    moved.power = point.power;
    moved.idle_energy_j = point.idle_energy_j;
    moved.dynamic_energy_j = point.dynamic_energy_j;
    const ClockParameters& parameters = curve.curve().parameters();
    const ClockedPoint& known = curve.curve().known();
    const Place to = place_of(point.real, parameters);
    if (std::abs(to.x / known.x - 1) < same_clock && std::abs(to.y / known.y - 1) < same_clock) return moved;
    const double sigma = clock_distance(to.x, to.y, known) * parameters.spread.energy;
    moved.cost.dynamic_energy = moved_to(forecast.cost.dynamic_energy, point.dynamic_energy_j, sigma);
    moved.evidence_share.clear();
    if (has_calls_at_clocks(moved)) {
        move_between(moved, parameters, to);
        share_evidence(moved);
    } else {
        for (const auto& [evidence, share] : forecast.evidence_share)
            moved.evidence_share[carried(evidence, parameters)] += share;
        for (OperationForecast& operation : moved.operations) move(operation, parameters, {known.x, known.y}, to);
    }
    if (forecast.update_time.known()) {
        const double longest = moved.time.value.value();
        const double update = forecast.update_time.value.value() * update_stretch(forecast, moved);
        moved.update_time = moved_to(forecast.update_time, std::min(update, longest),
                                     clock_distance(to.x, to.y, known) * parameters.spread.time);
    }
    return moved;
}

}  // namespace joulecast
