#include "joulecast/forecast/forecast_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/forecast/clock_balance.h"
#include "joulecast/forecast/compose.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/log_interval.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/forecast/own_limit.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/physics/learned_clocks.h"

namespace joulecast {
namespace {

/// What the control loop of a power limit leaves of it.
constexpr double share_of_limit = 0.995;
/// Kernels whose balances lie within this many octaves count as one: their sums differ from the curve by less than
/// 1e-3.
constexpr double balance_octaves = 0.25;
/// Between two trained clocks the curve may bend otherwise than the physical one does, most where the voltage has its
/// knee: standard deviation of the logarithm in the middle of a gap, for a gap of a ratio of e. Chosen in sight of the
/// pretended cards (docs/pretend.md), where power was up to 4 % off in the middle of a gap of 1.33.
constexpr double bend = 0.05;

ClockPlace place_in(const OperatingPoint& point, const ClockParameters& parameters) {
    return place_of(parameters, point.sm_clock_mhz, point.memory_clock_mhz);
}

int balance_class(const KernelTime& balance) {
    constexpr double farthest = 8;
    const double octaves = std::log2(balance.compute / balance.memory);
    return static_cast<int>(std::lround(std::clamp(octaves, -farthest, farthest) / balance_octaves));
}

/// Kernels of like balance together; `place` is where the forecast holds.
std::vector<KernelTime> kernels_of(const NetworkForecast& forecast, const ClockParameters& parameters,
                                   ClockPlace place) {
    std::map<int, KernelTime> classes;
    KernelTime latency;
    for (const OperationForecast& operation : forecast.operations) {
        const double seconds = kernel_seconds(operation);
        if (!(seconds > 0)) continue;
        const auto count = static_cast<double>(operation.count);
        const KernelTime parts = with_latency(operation.balance, seconds, parameters, place.x, place.y);
        latency.latency += count * parts.latency;
        latency.steady += count * parts.steady;
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
    // Over clocks, and by a data sheet, it stands at the clock that the limit leaves.
    if (is_forecast_unlimited(forecast, device)) return power;
    const bool is_held = forecast.limited_by == Bound::power_cap ||
                         std::ranges::any_of(forecast.operations, [](const OperationForecast& operation) {
                             return !std::isnan(operation.unlimited_w);
                         });
    if (!is_held || !(time > 0) || !forecast.at_clocks.empty()) return power;
    const NetworkParts parts = parts_of(forecast.operations);
    const NetworkCorrection correction =
        forecast.fusion ? NetworkCorrection{}
                        : network_correction(device, std::string(name(forecast.mode)) + "|" + forecast.precision);
    return std::max(power, unlimited_joules(parts, correction, power_facts_of(device), time) / time);
}

/// The kernels' and the host's time in the units of each other.
WorkloadCurve curve_from(const NetworkForecast& forecast, const ClockParameters& parameters, ClockedPoint known) {
    std::vector<KernelTime> kernels = kernels_of(forecast, parameters, {known.x, known.y});
    double sum = 0;
    for (const KernelTime& kernel : kernels) sum += kernel_time(kernel, parameters, known.x, known.y);
    const double device = forecast.cost.device_time.value.value();
    const double scale = sum > 0 ? device / sum : 0;
    for (KernelTime& kernel : kernels) kernel = scale * kernel;
    const double host = forecast.cost.host_time.value.value();
    const WorkloadTraits traits{forecast.model, memory_active_of(kernels)};
    return {parameters, std::move(kernels), std::isnan(host) ? 0 : host, known, traits};
}

/// A forecast that the power limit holds is one for the clock that the limit leaves: there its time and power are
/// known.
WorkloadCurve forecast_curve(const NetworkForecast& forecast, const DeviceModel& device) {
    const ClockParameters parameters = clock_parameters(device);
    const ClockPlace place = place_in(forecast.point, parameters);
    ClockedPoint known{place.x, place.y, forecast.time.value.value(), unlimited_watts(forecast, device)};
    const double power = forecast.power.value.value();
    if (!(known.power_w > power)) return curve_from(forecast, parameters, known);
    const WorkloadCurve unlimited = curve_from(forecast, parameters, known);
    known.x = unlimited.within_limit(known.x, power, known.y);
    known.power_w = power;
    return curve_from(forecast, parameters, known);
}

template <class Unit>
Estimate<Unit> within(double value, double half_width, double sigma) {
    return within_log<Unit>(value, std::hypot(half_width, normal_90 * sigma));
}

/// To a whole number; what no integer holds in its shortest form.
std::string whole(double value) {
    constexpr double most = 1e15;
    if (std::abs(value) < most) return std::to_string(std::llround(value));
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", value);
    return text.data();
}

double device_limit_w(const DeviceModel& device) {
    if (device.published) return std::numeric_limits<double>::quiet_NaN();  // it knows no limit
    if (device.point.power_limit_w > 0) return device.point.power_limit_w;
    const double cap = power_facts_of(device).cap_w;
    return cap > 0 ? cap : device.device.tdp_w;
}

/// Under which it was measured, its driver took.
double most_limit_w(const DeviceModel& device) {
    return std::fmax(highest_power_limit_w(device.device), device.point.power_limit_w);
}

PointForecast known_point(const NetworkForecast& forecast) {
    return {forecast.asked,  forecast.point, forecast.time,          forecast.cost.device_time, forecast.cost.host_time,
            forecast.energy, forecast.power, forecast.idle_energy_j, forecast.dynamic_energy_j, forecast.limited_by};
}

/// How far a clock lies from the ends of the gap between the anchors on either side: 0 at an anchor and beyond them,
/// in the middle the whole gap, as the logarithm of its clocks' ratio.
template <class Anchors>
double within_gap(const Anchors& anchors, double x) {
    double below = 0, above = std::numeric_limits<double>::infinity();
    for (const auto& anchor : anchors) {
        if (anchor.x <= x) below = std::max(below, anchor.x);
        if (anchor.x >= x) above = std::min(above, anchor.x);
    }
    if (!(below > 0) || !std::isfinite(above) || !(above > below)) return 0;
    const double gap = std::log(above / below);
    const double share = std::log(x / below) / gap;
    return 4 * share * (1 - share) * gap;
}

}  // namespace

std::string why_no_clocks(const DeviceModel& device) {
    if (!device.published || device.over_clocks) return missing_for_clocks(device.device);
    const std::string method = description(device.published->method);
    if (device.published->method == PublishedMethod::thesis)
        return "this predictor of the method " + method + " was trained at one clock";
    return "the method " + method + " has no clocks";
}

void check_limit(const DeviceModel& device, const OperatingPoint& asked) {
    if (!device.published || !(asked.power_limit_w > 0)) return;
    throw UsageError("the method " + description(device.published->method) +
                     " has no power limits. Leave out power limits.");
}

ClockParameters clock_parameters(const DeviceModel& device) {
    if (device.clocks) return *device.clocks;
    if (const std::string why = why_no_clocks(device); device.published && !why.empty())
        throw UsageError("cannot forecast " + device.device.id + " at other clocks: " + why +
                         ". Leave out clocks and power limits.");
    const std::string missing = missing_for_clocks(device.device);
    if (!missing.empty())
        throw UsageError("cannot forecast " + device.device.id + " at other clocks: " +
                         (device.device.kind == Device::Kind::cpu ? std::string("only GPUs have a clock model")
                                                                  : "its data sheet lacks " + missing) +
                         ". Leave out clocks and power limits.");
    ClockParameters parameters = default_clock_parameters(device.device);
    const double idle = power_facts_of(device).idle_w;
    const ClockPlace place = place_in(device.point, parameters);
    const double by_sheet = static_w(parameters, place.x, place.y);
    if (idle > 0 && by_sheet > 0) {
        for (double* part : {&parameters.still_w, &parameters.clocked_w, &parameters.memory_w})
            *part *= idle / by_sheet;
    }
    // Its numbers for time at lower clocks are those of cards with matrix units; a Titan X of 2015 draws otherwise.
    const bool has_matrix_units =
        peak_flop_per_s(device.device, Dtype::f16) > vector_flop_per_s(device.device, Dtype::f16);
    if (has_physical_power(device) && has_matrix_units) {
        parameters.knee = physical_knee;
        parameters.slope = physical_slope;
        parameters.steady_share = 0;
        parameters.running_share = running_share(device.physical_power);
    }
    return parameters;
}

ForecastCurve::ForecastCurve(const NetworkForecast& forecast, const DeviceModel& device)
    : known_(known_point(forecast)),
      limit_w_(device_limit_w(device)),
      asked_x_(1),
      least_limit_w_(device.device.min_power_limit_w),
      most_limit_w_(most_limit_w(device)),
      curve_(forecast_curve(forecast, device)) {
    // Of a card known from its sheet the forecast stands where its limit leaves it, a higher limit leaves more.
    const bool is_by_sheet = is_forecast_unlimited(forecast, device);
    asked_x_ = place_in(is_by_sheet ? device.point : forecast.point, curve_.parameters()).x;
    anchor(forecast);
    if (device.over_clocks) ratio_ = device.over_clocks->ratio;
    if (anchors_.empty()) return;
    asked_x_ = forecast.asked.sm_clock_mhz > 0 ? forecast.asked.sm_clock_mhz / curve_.parameters().highest_mhz
                                               : std::ranges::max_element(anchors_, {}, &Anchor::x)->x;
}

void ForecastCurve::anchor(const NetworkForecast& forecast) {
    for (const ForecastAtClock& at_clock : forecast.at_clocks) {
        const ClockPlace at = place_of(curve_.parameters(), at_clock.sm_clock_mhz, at_clock.memory_clock_mhz);
        Anchor& anchor = anchors_.emplace_back();
        anchor.x = at.x;
        anchor.y = at.y;
        anchor.time = std::log(at_clock.time.value.value() / curve_.time_s(at.x, at.y));
        const double device = known_.device_time.value.value() * curve_.device_ratio(at.x, at.y);
        if (device > 0) anchor.device = std::log(at_clock.device_time.value.value() / device);
        anchor.time_half_width = log_half_width(at_clock.time);
        if (!at_clock.power.known()) continue;
        anchor.power = std::log(at_clock.power.value.value() / curve_.power_w(at.x, at.y));
        anchor.power_half_width = log_half_width(at_clock.power);
        anchor.energy_half_width = log_half_width(at_clock.energy);
    }
}

ForecastCurve::Anchor ForecastCurve::at_anchors(double x, double y) const {
    if (anchors_.empty()) return {};
    const auto mixed = [](const Anchor& a, const Anchor& b, double share) {
        Anchor both;
        for (double Anchor::* of : {&Anchor::time, &Anchor::device, &Anchor::power, &Anchor::time_half_width,
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
        for (const Anchor& anchor : anchors_) {
            if (anchor.y != memory) continue;
            if (anchor.x <= x && (!below || anchor.x > below->x)) below = &anchor;
            if (anchor.x >= x && (!above || anchor.x < above->x)) above = &anchor;
        }
        if (!below) below = above;
        if (!above) above = below;
        return mixed(*below, *above, share_of(x, below->x, above->x));
    };
    double lower = anchors_.front().y, upper = anchors_.back().y;
    for (const Anchor& anchor : anchors_) {
        if (anchor.y <= y) lower = std::max(lower, anchor.y);
        if (anchor.y >= y) upper = std::min(upper, anchor.y);
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
    check_limits(asked.power_limit_w, device);
}

void ForecastCurve::check_limits(double asked_w, const std::string& device) const {
    const ClockParameters& parameters = curve_.parameters();
    const bool is_told = least_limit_w_ > 0;
    const double idle = static_w(parameters, parameters.lowest_mhz / parameters.highest_mhz);
    const double least = is_told ? least_limit_w_ : idle;
    if (!(asked_w < least || asked_w > most_limit_w_)) return;
    throw UsageError(device + " takes power limits of " + whole(std::ceil(least)) + " W" +
                     (is_told ? "" : " (idle; its data sheet has no min_power_limit_w)") + " to " +
                     whole(std::floor(most_limit_w_)) + " W, not of " + whole(asked_w) + " W");
}

double ForecastCurve::asked_x(const OperatingPoint& asked) const {
    if (std::isnan(asked.sm_clock_mhz)) return asked_x_;
    return std::min(1.0, asked.sm_clock_mhz / curve_.parameters().highest_mhz);
}

ForecastCurve::Reached ForecastCurve::reached(const OperatingPoint& asked) const {
    const double wanted = asked_x(asked);
    Reached there;
    there.y =
        std::isnan(asked.memory_clock_mhz) ? curve_.known().y : asked.memory_clock_mhz / curve_.parameters().memory_mhz;
    there.limit_w = std::isnan(asked.power_limit_w) ? limit_w_ : asked.power_limit_w;
    there.x = within_limit(wanted, share_of_limit * there.limit_w, there.y);
    const double watts = power_w(there.x, there.y);
    if (watts > there.limit_w) there.stretch = watts / there.limit_w;
    if (there.x >= wanted - 1e-9 && there.stretch == 1) return there;
    // What waits for memory draws less at a lower clock and takes no longer: the limit holds it, but decides nothing.
    const double without = curve_.time_s(wanted, there.y) * std::exp(at_anchors(wanted, there.y).time);
    const double within = curve_.time_s(there.x, there.y) * std::exp(at_anchors(there.x, there.y).time);
    there.is_limited = limit_decides(there.stretch * within, without);
    return there;
}

PointForecast ForecastCurve::at(const OperatingPoint& asked) const {
    check(asked);
    const ClockParameters& parameters = curve_.parameters();
    PointForecast point = known_;
    const auto or_known = [](double value, double known) { return std::isnan(value) ? known : value; };
    point.asked.sm_clock_mhz = or_known(asked.sm_clock_mhz, known_.asked.sm_clock_mhz);
    point.asked.memory_clock_mhz = or_known(asked.memory_clock_mhz, known_.asked.memory_clock_mhz);
    point.asked.power_limit_w = or_known(asked.power_limit_w, known_.asked.power_limit_w);
    const auto [x, y, limit, stretch, is_limited] = reached(asked);
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
    point.limited_by = is_limited                                ? Bound::power_cap
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

double ForecastCurve::distance(const PointForecast& a, const PointForecast& b) const {
    const ClockPlace from = place_in(a.real, curve_.parameters());
    const ClockPlace to = place_in(b.real, curve_.parameters());
    const double real = clock_distance(to.x, to.y, {from.x, from.y});
    if (a.limited_by != Bound::power_cap && b.limited_by != Bound::power_cap) return real;
    return std::max(real, clock_distance(asked_x(b.asked), to.y, {asked_x(a.asked), from.y}));
}

RelativeCost ForecastCurve::relative(const PointForecast& at, const PointForecast& to) const {
    const ClockSpread& spread = curve_.parameters().spread;
    const double apart = distance(at, to);
    // Beyond the trained clocks the curve alone tells.
    const auto beyond = [&](const PointForecast& point) {
        const ClockPlace place = place_in(point.real, curve_.parameters());
        return distance(place.x, place.y);
    };
    const double outside = ratio_ ? beyond(at) + beyond(to) : apart;
    const double between = std::hypot(within_gap(anchors_, place_in(at.real, curve_.parameters()).x),
                                      within_gap(anchors_, place_in(to.real, curve_.parameters()).x));
    const auto half_width = [&](double learned, double of_curve) {
        return normal_90 * std::hypot(learned, between * bend, outside * of_curve);
    };
    const auto ratio = [](const auto& value, const auto& over, double half) -> Estimate<Ratio> {
        if (!value.known() || !over.known()) return {};
        const double both = std::hypot(log_half_width(value), log_half_width(over));
        return within_log<Ratio>(value.value / over.value, std::min(half, both));
    };
    const RatioSpread learned = ratio_.value_or(RatioSpread{0, 0, 0});
    const double of_power = ratio_share_of_power(apart);
    return {ratio(at.time, to.time, half_width(learned.time * ratio_share_of_time(apart), spread.time)),
            ratio(at.energy, to.energy, half_width(learned.energy * of_power, spread.energy)),
            ratio(at.power, to.power, half_width(learned.power * of_power, spread.power))};
}

RelativeCost ForecastCurve::relative_to_default(const PointForecast& at) const {
    return relative(at, this->at({}));
}

}  // namespace joulecast
