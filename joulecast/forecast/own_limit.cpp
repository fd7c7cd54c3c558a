// Networks that would draw more than the limit of a card that was never measured.
#include "joulecast/forecast/own_limit.h"

#include <algorithm>
#include <utility>

#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/forecast_curve.h"
#include "joulecast/forecast/log_interval.h"

namespace joulecast {
namespace {

NetworkForecast drawing(NetworkForecast forecast, double watts) {
    forecast.power = within_log<Watts>(watts, log_half_width(forecast.power));
    forecast.limited_by = Bound::device;
    return forecast;
}

/// The demand that lets the card hold its base clock within its TDP.
double warranted_w(const NetworkForecast& forecast, const DeviceModel& device, double demand_w) {
    const double base = device.device.base_clock_mhz / highest_clock_mhz(device.device);
    if (!(base > 0 && base < 1)) return demand_w;
    const WorkloadCurve curve = ForecastCurve(drawing(forecast, demand_w), device).curve();
    const ClockedPoint& known = curve.known();
    const double idle_w = static_w(curve.parameters(), base, known.y);
    const double above_w = curve.power_w(base, known.y) - idle_w;
    const double room_w = device.device.tdp_w - idle_w;
    if (!(above_w > room_w && room_w > 0)) return demand_w;
    const double idle_there_w = static_w(curve.parameters(), known.x, known.y);
    return idle_there_w + (demand_w - idle_there_w) * room_w / above_w;
}

}  // namespace

bool knows_demand(const DeviceModel& device) {
    return device.unseen && has_physical_power(device) && why_no_clocks(device).empty();
}

bool is_forecast_unlimited(const NetworkForecast& forecast, const DeviceModel& device) {
    if (!knows_demand(device)) return false;
    double own_s = 0, others_s = 0;
    for (const OperationForecast& operation : forecast.operations) {
        // Kernels that wait for memory take the same at either clock.
        if (!(operation.kernel_s > 0) || operation.balance.compute <= operation.balance.memory) continue;
        (operation.is_own ? own_s : others_s) += static_cast<double>(operation.count) * operation.kernel_s;
    }
    return own_s <= others_s;
}

Bound bound_of(const NetworkForecast& forecast, const DeviceModel& device) {
    const bool is_held = forecast.limited_by == Bound::power_cap && knows_demand(device);
    if (!is_held || is_forecast_unlimited(forecast, device)) return forecast.limited_by;
    const WorkloadCurve curve = ForecastCurve(forecast, device).curve();
    const double without_s = curve.time_s(1, curve.known().y);
    if (limit_decides(forecast.time.value.value(), without_s)) return Bound::power_cap;
    return forecast.cost.host_time.value > forecast.cost.device_time.value ? Bound::host : Bound::device;
}

std::optional<NetworkForecast> without_limit(const NetworkForecast& forecast, const DeviceModel& device,
                                             double demand_w) {
    if (!is_forecast_unlimited(forecast, device) || forecast.limited_by != Bound::power_cap) return std::nullopt;
    if (!(demand_w > forecast.power.value.value())) return std::nullopt;
    return drawing(forecast, warranted_w(forecast, device, demand_w));
}

}  // namespace joulecast
