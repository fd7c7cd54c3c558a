#include "joulecast/evaluate/network_clock_choice.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/graph/symbol_values.h"

namespace joulecast {
namespace {

constexpr double rule_share = 0.68;
constexpr std::size_t least_clocks = 3;

/// All but the clocks.
using WorkloadKey = std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, std::string, Host>;

using ByClock = std::map<double, const NetworkAccuracy*>;

/// A network at the clocks that it was measured at, by clock.
struct Workload {
    std::string network;
    std::string name;
    double floor = 0;  ///< as a share of the highest clock
    std::vector<ClockOption> measured;
    std::vector<ClockOption> forecast;
};

bool is_choosable(const NetworkAccuracy& network) {
    return network.sm_clock_mhz > 0 && !(network.power_limit_w > 0) && network.measured_time_s > 0 &&
           network.measured_energy_j > 0 && network.predicted_time.value.value() > 0 &&
           network.predicted_energy.value.value() > 0;
}

Workload workload_of(const ByClock& by_clock) {
    const NetworkAccuracy& highest = *by_clock.rbegin()->second;
    Workload workload;
    workload.network = highest.network;
    workload.name = with_values(highest.network, highest.symbols) + ", " + std::string(name(highest.mode)) + ", " +
                    highest.precision;
    if (highest.lowest_chosen_mhz > 0) workload.floor = highest.lowest_chosen_mhz / highest.sm_clock_mhz;
    for (const auto& [clock_mhz, network] : by_clock) {
        const double share = clock_mhz / highest.sm_clock_mhz;
        workload.measured.push_back({share, network->measured_time_s, network->measured_energy_j});
        workload.forecast.push_back(
            {share, network->predicted_time.value.value(), network->predicted_energy.value.value()});
    }
    return workload;
}

std::vector<Workload> workloads_on(const std::string& device, std::span<const NetworkAccuracy> networks) {
    std::map<WorkloadKey, std::map<double, ByClock>> by_memory_clock;
    for (const NetworkAccuracy& n : networks) {
        if (n.device != device || !is_choosable(n)) continue;
        const double memory_mhz = n.memory_clock_mhz > 0 ? n.memory_clock_mhz : 0;
        by_memory_clock[{n.network, n.symbols, n.mode, n.precision, n.engine, n.host}][memory_mhz].try_emplace(
            n.sm_clock_mhz, &n);
    }
    std::vector<Workload> workloads;
    for (const auto& [key, by_clock] : by_memory_clock) {
        const ByClock& at_highest = by_clock.rbegin()->second;
        if (at_highest.size() >= least_clocks) workloads.push_back(workload_of(at_highest));
    }
    return workloads;
}

void choose(const Workload& workload, ClockObjective objective, const std::vector<std::vector<ClockOption>>& others,
            std::vector<ClockChoice>& choices) {
    const auto add = [&](const std::string& rule, std::size_t chosen) {
        choices.push_back({rule, objective, workload.name, regret_of(workload.measured, chosen, objective),
                           is_over_limit(workload.measured, chosen, objective)});
    };
    add("joulecast", best_option(workload.forecast, objective, workload.floor));
    add("maximum clock", nearest_option(workload.measured, 1));
    if (!others.empty())
        add("best constant clock", nearest_option(workload.measured, best_constant_share(others, objective)));
    add("68 % of maximum", nearest_option(workload.measured, rule_share));
}

}  // namespace

std::vector<ClockRegret> network_clock_regrets(std::span<const NetworkAccuracy> networks) {
    std::set<std::string> devices;
    for (const NetworkAccuracy& n : networks) devices.insert(n.device);
    std::vector<ClockRegret> regrets;
    for (const std::string& device : devices) {
        const std::vector<Workload> workloads = workloads_on(device, networks);
        std::vector<ClockChoice> choices;
        for (const ClockObjective objective : all_clock_objectives()) {
            for (const Workload& workload : workloads) {
                std::vector<std::vector<ClockOption>> others;
                for (const Workload& other : workloads) {
                    if (other.network != workload.network) others.push_back(other.measured);
                }
                choose(workload, objective, others, choices);
            }
        }
        std::ranges::move(summarised(choices, device), std::back_inserter(regrets));
    }
    return regrets;
}

}  // namespace joulecast
