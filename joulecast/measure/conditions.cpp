#include "joulecast/measure/conditions.h"

#include <cmath>

#include "joulecast/meter/nvml.h"

namespace joulecast {

namespace {

/// Less than this share of the window is the driver's own bookkeeping.
constexpr double throttled_share = 0.01;

constexpr std::uint64_t power_reasons = throttle::power_cap | throttle::power_brake;
constexpr std::uint64_t heat_reasons = throttle::software_thermal | throttle::hardware_thermal;

/// A hardware slowdown is by heat unless it comes with the power brake.
bool reasons_say_heat(std::uint64_t reasons) {
    return (reasons & heat_reasons) != 0 ||
           ((reasons & throttle::hardware_slowdown) != 0 && (reasons & throttle::power_brake) == 0);
}

/// True where the driver's counter says that the device was throttled in the window.
bool moved(double before_s, double after_s, double window_s) {
    return after_s - before_s > throttled_share * window_s;
}

double mean_of_known(double a, double b) {
    if (std::isnan(a)) return b;
    return std::isnan(b) ? a : 0.5 * (a + b);
}

/// A card tells its reasons; one with neither reasons nor counters nor a clock tells nothing.
bool tells(const DeviceState& state) {
    return state.throttle_reasons != 0 || std::isfinite(state.power_capped_s) ||
           std::isfinite(state.thermally_limited_s);
}

}  // namespace

Conditions conditions_around(const DeviceState& before, const DeviceState& after, double window_s) {
    Conditions conditions;
    conditions.temperature_c = std::isnan(after.temperature_c) ? before.temperature_c : after.temperature_c;
    conditions.performance_state = after.performance_state.empty() ? before.performance_state : after.performance_state;
    conditions.throttle_reasons = before.throttle_reasons | after.throttle_reasons;
    const bool heat = reasons_say_heat(before.throttle_reasons) || reasons_say_heat(after.throttle_reasons) ||
                      moved(before.thermally_limited_s, after.thermally_limited_s, window_s);
    const bool power = (conditions.throttle_reasons & power_reasons) != 0 ||
                       moved(before.power_capped_s, after.power_capped_s, window_s);
    if (heat) {
        conditions.limited_by = LimitedBy::thermal;
    } else if (power) {
        conditions.limited_by = LimitedBy::power_cap;
    } else if (tells(before) || tells(after)) {
        conditions.limited_by = LimitedBy::none;
    }
    return conditions;
}

void set_real_point(const DeviceState& before, const DeviceState& after, OperatingPoint& point) {
    const auto set = [](double& value, double a, double b) {
        const double known = mean_of_known(a, b);
        if (!std::isnan(known)) value = known;
    };
    set(point.sm_clock_mhz, before.sm_clock_mhz, after.sm_clock_mhz);
    set(point.memory_clock_mhz, before.memory_clock_mhz, after.memory_clock_mhz);
    set(point.power_limit_w, before.power_limit_w, after.power_limit_w);
}

}  // namespace joulecast
