#include "joulecast/train/network_ratios.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/train/rows_over_clocks.h"

namespace joulecast {
namespace {

/// Nearer clocks are one: what was measured there differs by its noise.
constexpr double least_distance = 0.02;

using NetworkKey = std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, Host>;

NetworkKey key_of(const NetworkMeasurement& m) {
    return {m.model, m.symbols, m.mode, m.precision, m.real.host};
}

/// Absent at clocks and limits that the device does not have.
std::optional<PointForecast> point_at(const ForecastCurve& curve, const OperatingPoint& asked) {
    try {
        return curve.at(asked);
    } catch (const UsageError&) {
        return std::nullopt;
    }
}

double distance_of(const PointForecast& a, const PointForecast& b) {
    const double memory = std::log(a.real.memory_clock_mhz / b.real.memory_clock_mhz);
    return std::hypot(std::log(a.real.sm_clock_mhz / b.real.sm_clock_mhz), std::isnan(memory) ? 0 : memory);
}

void append_ratios(const std::vector<const NetworkMeasurement*>& runs, const ForecastCurve& curve,
                   const DeviceModel& device, std::vector<NetworkRatio>& ratios) {
    std::vector<std::pair<const NetworkMeasurement*, PointForecast>> points;
    for (const NetworkMeasurement* run : runs) {
        if (const auto point = point_at(curve, point_of_run(device, *run))) points.emplace_back(run, *point);
    }
    if (points.size() < 2) return;
    const auto clocks = [](const auto& point) {
        const OperatingPoint& real = point.second.real;
        return std::pair(real.memory_clock_mhz > 0 ? real.memory_clock_mhz : 0, real.sm_clock_mhz);
    };
    const auto& [reference, there] = *std::ranges::max_element(points, {}, clocks);
    for (const auto& [run, here] : points) {
        const double distance = distance_of(here, there);
        if (distance < least_distance) continue;
        ratios.push_back({*run, *reference, here, there, curve.relative(here, there), distance});
    }
}

}  // namespace

std::vector<NetworkRuns> runs_of_networks(std::span<const TrainingNetwork> networks) {
    std::map<NetworkKey, NetworkRuns> by_network;
    for (const TrainingNetwork& network : networks) {
        if (!(network.measurement.time.median_s > 0)) continue;
        NetworkRuns& runs = by_network[key_of(network.measurement)];
        runs.graph = &network.graph;
        runs.runs.push_back(&network.measurement);
    }
    std::vector<NetworkRuns> of_networks;
    for (auto& [key, runs] : by_network) {
        if (runs.runs.size() > 1) of_networks.push_back(std::move(runs));
    }
    return of_networks;
}

NetworkForecast forecast_of(const NetworkRuns& network, ForecastCache& known) {
    const NetworkMeasurement& first = *network.runs.front();
    return forecast_network(*network.graph, first.precision, known, first.real.host,
                            measured_training(*network.graph, first));
}

OperatingPoint point_of_run(const DeviceModel& device, const NetworkMeasurement& run) {
    const bool is_asked = run.asked.sm_clock_mhz > 0 || run.asked.power_limit_w > 0;
    return is_asked || !device.over_clocks ? run.asked : clocks_of(run);
}

double NetworkRatio::measured_time() const {
    return measured.time.median_s / reference.time.median_s;
}

double NetworkRatio::measured_power() const {
    return measured_watts(measured) / measured_watts(reference);
}

double NetworkRatio::measured_energy() const {
    return measured_joules(measured) / measured_joules(reference);
}

std::vector<NetworkRatio> network_ratios(ForecastCache& known, std::span<const TrainingNetwork> networks) {
    const DeviceModel& device = known.device();
    std::vector<NetworkRatio> ratios;
    if (!missing_for_clocks(device.device).empty()) return ratios;
    for (const NetworkRuns& network : runs_of_networks(networks))
        append_ratios(network.runs, ForecastCurve(forecast_of(network, known), device), device, ratios);
    return ratios;
}

}  // namespace joulecast
