#include "joulecast/evaluate/network_curves.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/forecast_curve.h"
#include "joulecast/train/network_ratios.h"

namespace joulecast {
namespace {

/// Of a drawn curve, between the outermost measured clocks.
constexpr int points_of_curve = 41;

/// 0: the device's own.
double memory_clock_or_zero(const NetworkMeasurement& run) {
    return run.asked.memory_clock_mhz > 0 ? run.asked.memory_clock_mhz : 0;
}

/// Of those that were asked for; 0 where none was.
double highest_memory_clock(const std::vector<const NetworkMeasurement*>& runs) {
    double highest = 0;
    for (const NetworkMeasurement* run : runs) highest = std::max(highest, memory_clock_or_zero(*run));
    return highest;
}

/// Runs that differ in the core clock alone.
std::vector<NetworkCurve::Measured> measured_over_clocks(const DeviceModel& device,
                                                         const std::vector<const NetworkMeasurement*>& runs,
                                                         double memory_mhz) {
    std::vector<NetworkCurve::Measured> measured;
    for (const NetworkMeasurement* run : runs) {
        const double clock = point_of_run(device, *run).sm_clock_mhz;
        if (!(clock > 0) || run->asked.power_limit_w > 0 || memory_clock_or_zero(*run) != memory_mhz) continue;
        measured.push_back({clock, run->time.median_s, measured_joules(*run)});
    }
    std::ranges::sort(measured, {}, &NetworkCurve::Measured::clock_mhz);
    return measured;
}

/// Empty where the device does not have these clocks.
std::vector<NetworkCurve::Forecast> forecast_between(const ForecastCurve& curve, double lowest_mhz, double highest_mhz,
                                                     double memory_mhz) {
    std::vector<NetworkCurve::Forecast> points;
    try {
        for (int i = 0; i < points_of_curve; ++i) {
            OperatingPoint asked;
            if (memory_mhz > 0) asked.memory_clock_mhz = memory_mhz;
            asked.sm_clock_mhz = lowest_mhz + (highest_mhz - lowest_mhz) * i / (points_of_curve - 1);
            const PointForecast at = curve.at(asked);
            points.push_back({asked.sm_clock_mhz, at.time, at.energy});
        }
    } catch (const UsageError&) {
        points.clear();
    }
    return points;
}

}  // namespace

std::vector<NetworkCurve> network_curves(ForecastCache& known, std::span<const TrainingNetwork> networks) {
    const DeviceModel& device = known.device();
    std::vector<NetworkCurve> curves;
    if (!missing_for_clocks(device.device).empty()) return curves;
    for (const NetworkRuns& network : runs_of_networks(networks)) {
        const double memory_mhz = highest_memory_clock(network.runs);
        auto measured = measured_over_clocks(device, network.runs, memory_mhz);
        if (measured.empty() || measured.front().clock_mhz == measured.back().clock_mhz) continue;
        const ForecastCurve curve(forecast_of(network, known), device);
        auto forecast = forecast_between(curve, measured.front().clock_mhz, measured.back().clock_mhz, memory_mhz);
        if (forecast.empty()) continue;
        const NetworkMeasurement& first = *network.runs.front();
        curves.push_back({first.model, first.symbols, device.device.id, first.mode, first.precision, first.real.host,
                          std::move(measured), std::move(forecast)});
    }
    return curves;
}

}  // namespace joulecast
