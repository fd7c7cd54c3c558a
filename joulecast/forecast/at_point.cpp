// A forecast at other clocks: its sums by the curve of the network, its calls one by one.
#include "joulecast/forecast/at_point.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "joulecast/forecast/clock_balance.h"
#include "joulecast/forecast/evidence_shares.h"
#include "joulecast/forecast/log_interval.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/physics/clock_curve.h"

namespace joulecast {
namespace {

/// Clocks within this share are the same.
constexpr double same_clock = 0.002;

Evidence carried(Evidence evidence, const ClockParameters& parameters) {
    if (evidence != Evidence::measured && evidence != Evidence::interpolated) return evidence;
    return parameters.workloads > 0 ? Evidence::interpolated : Evidence::extrapolated;
}

/// One call at the clocks of `to`, drawing no more than the limit there if one held it before.
void move(OperationForecast& operation, const ClockParameters& parameters, ClockPlace from, ClockPlace to,
          double limit_w) {
    const double call = operation.cost.device_time.value.value();
    const double kernel = kernel_seconds(operation);
    operation.evidence = carried(operation.evidence, parameters);
    if (!(call > 0) || !(kernel > 0)) return;
    const double floor = std::max(0.0, operation.cost.host_time.value.value());
    const WorkloadCurve curve =
        curve_of_call(operation.balance, kernel, std::isnan(operation.kernel_s) ? floor : 0, parameters,
                      {from.x, from.y, call, std::fmax(operation.power.value.value(), operation.unlimited_w)});
    const double distance = clock_distance(to.x, to.y, {from.x, from.y});
    const double seconds = curve.time_s(to.x, to.y);
    const double unlimited = curve.power_w(to.x, to.y);
    const bool is_held = unlimited > limit_w && !std::isnan(operation.unlimited_w);
    const double watts = is_held ? limit_w : unlimited;
    operation.unlimited_w = is_held ? unlimited : std::numeric_limits<double>::quiet_NaN();
    operation.cost.device_time = moved_to(operation.cost.device_time, seconds, distance * parameters.spread.time);
    if (!std::isnan(operation.kernel_s)) operation.kernel_s *= curve.device_ratio(to.x, to.y);
    if (!operation.power.known()) return;
    operation.power = moved_to(operation.power, watts, distance * parameters.spread.power);
    const double sigma = distance * parameters.spread.energy;
    operation.energy = moved_to(operation.energy, watts * seconds, sigma);
    const double above = std::max(0.0, unlimited - static_w(parameters, to.x, to.y));
    operation.cost.dynamic_energy = moved_to(operation.cost.dynamic_energy, above * seconds, sigma);
}

bool has_calls_at_clocks(const NetworkForecast& forecast) {
    const std::size_t calls = forecast.operations.size();
    return calls > 0 && !forecast.at_clocks.empty() &&
           std::ranges::all_of(forecast.at_clocks,
                               [calls](const ForecastAtClock& at_clock) { return at_clock.calls.size() == calls; });
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
    ClockPlace at;  ///< `to`, or the end of the trained clocks that is nearest to it
    double share = 0;
};

Neighbours neighbours(const NetworkForecast& forecast, const ClockParameters& parameters, ClockPlace to) {
    const auto place = [&](const ForecastAtClock& at_clock) {
        return place_of(parameters, at_clock.sm_clock_mhz, at_clock.memory_clock_mhz);
    };
    const double y = place(*std::ranges::min_element(forecast.at_clocks, {}, [&](const ForecastAtClock& at_clock) {
                         return std::abs(std::log(place(at_clock).y / to.y));
                     })).y;
    Neighbours found;
    for (const ForecastAtClock& at_clock : forecast.at_clocks) {
        const ClockPlace at = place(at_clock);
        if (at.y != y) continue;
        if (at.x <= to.x * (1 + same_clock) && (!found.below || at.x > place(*found.below).x)) found.below = &at_clock;
        if (at.x >= to.x * (1 - same_clock) && (!found.above || at.x < place(*found.above).x)) found.above = &at_clock;
    }
    if (!found.below) found.below = found.above;
    if (!found.above) found.above = found.below;
    const double low = place(*found.below).x, high = place(*found.above).x;
    found.at = {std::clamp(to.x, std::min(low, high), std::max(low, high)), y};
    if (high > low) found.share = std::log(found.at.x / low) / std::log(high / low);
    return found;
}

/// Every call as forecast at the trained clocks on either side; beyond them, from the nearest by the curve.
void move_between(NetworkForecast& moved, const ClockParameters& parameters, ClockPlace to) {
    const double limit_w = moved.point.power_limit_w;
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
            move(operation, parameters, sides.at, to, limit_w);
    }
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

NetworkForecast at_point(const NetworkForecast& forecast, const DeviceModel& device, const OperatingPoint& asked) {
    return at_point(forecast, ForecastCurve(forecast, device), asked);
}

NetworkForecast at_point(const NetworkForecast& forecast, const ForecastCurve& curve, const OperatingPoint& asked) {
    return at_point(forecast, curve, curve.at(asked));
}

NetworkForecast at_point(const NetworkForecast& forecast, const ForecastCurve& curve, const PointForecast& point) {
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
    const ClockPlace to = place_of(parameters, point.real.sm_clock_mhz, point.real.memory_clock_mhz);
    if (std::abs(to.x / known.x - 1) < same_clock && std::abs(to.y / known.y - 1) < same_clock) return moved;
    if (!std::isnan(moved.compute_share)) moved.compute_share = curve.curve().compute_share(to.x, to.y);
    const double sigma = clock_distance(to.x, to.y, known) * parameters.spread.energy;
    moved.cost.dynamic_energy = moved_to(forecast.cost.dynamic_energy, point.dynamic_energy_j, sigma);
    moved.evidence_share.clear();
    if (has_calls_at_clocks(moved)) {
        move_between(moved, parameters, to);
        share_evidence(moved, 0);
    } else {
        for (const auto& [evidence, share] : forecast.evidence_share)
            moved.evidence_share[carried(evidence, parameters)] += share;
        for (OperationForecast& operation : moved.operations)
            move(operation, parameters, {known.x, known.y}, to, point.real.power_limit_w);
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
