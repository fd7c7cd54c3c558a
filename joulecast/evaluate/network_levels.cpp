#include "joulecast/evaluate/network_levels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr std::size_t least_errors = 10;

/// Nine tenths of |log error| as a standard deviation; `otherwise` for few.
double sigma_of(const std::vector<double>& log_errors, double otherwise) {
    return log_errors.size() < least_errors ? otherwise : quantile(log_errors, 0.9) / normal_90;
}

struct Levels {
    KernelLevels time;
    PowerLevels power;
};

Levels fitted_levels(std::span<const ListedWorkload> listed, const Device& device, const ClockParameters& parameters) {
    Levels levels{KernelLevels{}, default_power_levels(device)};
    levels.time = fit_kernel_levels(levels.time, listed, device.units, parameters);
    levels.power = fit_power_levels(levels.power, listed, levels.time, device.units, parameters);
    return levels;
}

/// |log error| of time and power of each workload, by levels fitted without its group.
struct LevelErrors {
    std::vector<double> time;
    std::vector<double> power;

    LevelErrors(std::span<const ListedWorkload> listed, const Device& device, const ClockParameters& parameters) {
        std::map<std::string, Levels> without;
        for (const ListedWorkload& workload : listed) {
            auto found = without.find(workload.group);
            if (found == without.end()) {
                std::vector<ListedWorkload> rest;
                std::ranges::copy_if(listed, std::back_inserter(rest),
                                     [&](const ListedWorkload& other) { return other.group != workload.group; });
                found = without.emplace(workload.group, fitted_levels(rest, device, parameters)).first;
            }
            add(workload, found->second, device, parameters);
        }
    }

  private:
    void add(const ListedWorkload& workload, const Levels& levels, const Device& device,
             const ClockParameters& parameters) {
        const ClockedPoint& at = workload.point;
        const double seconds = workload_s(workload.kernels, levels.time, device.units, parameters, at.x, at.y);
        time.push_back(std::abs(std::log(seconds / at.time_s)));
        if (!(at.power_w > 0)) return;
        const double watts =
            workload_w(workload.kernels, levels.time, levels.power, device.units, parameters, at.x, at.y);
        power.push_back(std::abs(std::log(std::min(watts, device.tdp_w) / at.power_w)));
    }
};

}  // namespace

NetworkLevels network_levels(std::span<const ListedWorkload> networks, const Device& device,
                             const ClockParameters& parameters) {
    if (networks.empty()) throw Error("no network of known kernels to fit levels to");
    NetworkLevels levels;
    const Levels fitted = fitted_levels(networks, device, parameters);
    levels.time = fitted.time;
    levels.power = fitted.power;
    std::vector<double> clocks;
    for (const ListedWorkload& network : networks) clocks.push_back(network.point.x);
    levels.x = median(clocks);
    const LevelErrors errors(networks, device, parameters);
    levels.sigma_time = sigma_of(errors.time, levels.sigma_time);
    levels.sigma_power = sigma_of(errors.power, levels.sigma_power);
    return levels;
}

}  // namespace joulecast
