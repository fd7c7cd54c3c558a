#include "joulecast/evaluate/device_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "joulecast/graph/symbol_values.h"

namespace joulecast {
namespace {

/// All but the device.
using WorkloadKey = std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, std::string, Host>;

/// A network on the devices that it was measured on.
struct Workload {
    std::string name;
    std::vector<std::string> devices;
    std::vector<ClockOption> measured;
    std::vector<ClockOption> forecast;
};

std::string workload_name(const NetworkAccuracy& n) {
    return with_values(n.network, n.symbols) + ", " + std::string(name(n.mode)) + ", " + n.precision;
}

/// The share is that of the fastest, whose time the limits count in: a device has no clock to be chosen here.
void set_shares(std::vector<ClockOption>& options) {
    const double fastest = std::ranges::min_element(options, {}, &ClockOption::time_s)->time_s;
    for (ClockOption& option : options) option.clock_share = fastest / option.time_s;
}

std::vector<Workload> workloads_of(std::span<const NetworkAccuracy> networks) {
    std::map<WorkloadKey, Workload> found;
    for (const NetworkAccuracy& n : networks) {
        const double forecast_s = n.predicted_time.value.value();
        if (!(n.measured_time_s > 0) || !(forecast_s > 0)) continue;
        Workload& workload = found[{n.network, n.symbols, n.mode, n.precision, n.engine, n.host}];
        if (std::ranges::find(workload.devices, n.device) != workload.devices.end()) continue;
        workload.name = workload_name(n);
        workload.devices.push_back(n.device);
        workload.measured.push_back({1, n.measured_time_s, n.measured_energy_j});
        workload.forecast.push_back({1, forecast_s, n.predicted_energy.value.value()});
    }
    std::vector<Workload> workloads;
    for (auto& [key, workload] : found) {
        if (workload.devices.size() < 2) continue;
        set_shares(workload.measured);
        set_shares(workload.forecast);
        workloads.push_back(std::move(workload));
    }
    return workloads;
}

bool has_energy(const std::vector<ClockOption>& options) {
    return std::ranges::all_of(options, [](const ClockOption& option) { return option.energy_j > 0; });
}

/// A rule takes the device with the greatest figure.
struct DeviceRule {
    const char* name;
    double (*figure)(const Device&);
};

constexpr std::array device_rules{
    DeviceRule{"newest device", [](const Device& d) { return d.release_year; }},
    DeviceRule{"largest bandwidth", [](const Device& d) { return d.bandwidth_bytes_per_s; }},
    DeviceRule{"least TDP", [](const Device& d) { return -d.tdp_w; }},
};

/// Absent where a sheet lacks the figure. Of equal ones the first by id.
std::optional<std::size_t> chosen_by(const DeviceRule& rule, const Workload& workload,
                                     std::span<const Device> devices) {
    std::optional<std::size_t> best;
    double greatest = 0;
    for (std::size_t i = 0; i < workload.devices.size(); ++i) {
        const auto device = std::ranges::find(devices, workload.devices[i], &Device::id);
        if (device == devices.end() || std::isnan(rule.figure(*device))) return std::nullopt;
        const double figure = rule.figure(*device);
        const bool is_first = best && figure == greatest && workload.devices[i] < workload.devices[*best];
        if (best && figure <= greatest && !is_first) continue;
        best = i;
        greatest = figure;
    }
    return best;
}

ClockChoice choice(const std::string& rule, ClockObjective objective, const Workload& workload, std::size_t chosen) {
    return {rule, objective, workload.name, regret_of(workload.measured, chosen, objective),
            is_over_limit(workload.measured, chosen, objective)};
}

void choose(const Workload& workload, ClockObjective objective, std::span<const Device> devices,
            std::vector<ClockChoice>& choices) {
    choices.push_back(choice("joulecast", objective, workload, best_option(workload.forecast, objective)));
    for (const DeviceRule& rule : device_rules) {
        if (const auto chosen = chosen_by(rule, workload, devices))
            choices.push_back(choice(rule.name, objective, workload, *chosen));
    }
}

}  // namespace

std::vector<ClockRegret> device_regrets(std::span<const NetworkAccuracy> networks, std::span<const Device> devices) {
    std::vector<ClockChoice> choices;
    const std::vector<Workload> workloads = workloads_of(networks);
    for (const Workload& workload : workloads) choose(workload, ClockObjective::time, devices, choices);
    for (const ClockObjective objective : all_clock_objectives()) {
        for (const Workload& workload : workloads) {
            if (has_energy(workload.measured) && has_energy(workload.forecast))
                choose(workload, objective, devices, choices);
        }
    }
    return summarised(choices, "all");
}

}  // namespace joulecast
