#include "joulecast/forecast/network_difference.h"

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "joulecast/forecast/compose.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// Calls of one operation in both networks, and one forecast of it.
struct CallsOfBoth {
    double before = 0;
    double after = 0;
    const OperationForecast* forecast = nullptr;
};

/// By operation, part of the step (a gradient's sum is no call of the graph) and role in an engine's kernels.
using CallsByKind = std::map<std::tuple<StepPart, std::string, std::string>, CallsOfBoth>;

CallsByKind calls_of_both(const NetworkForecast& before, const NetworkForecast& after) {
    CallsByKind calls;
    const auto add = [&](const NetworkForecast& network, double CallsOfBoth::* count) {
        for (const OperationForecast& operation : network.operations) {
            CallsOfBoth& both = calls[{operation.part, signature(operation.operation), operation.role}];
            both.*count += static_cast<double>(operation.count);
            both.forecast = &operation;
        }
    };
    add(before, &CallsOfBoth::before);
    add(after, &CallsOfBoth::after);
    return calls;
}

/// A network's cost over the sum of its calls, for the two networks together.
template <class Unit>
struct Sums {
    double calls = 0;
    double variance = 0;  ///< of the difference of the sums

    void add(const CallsOfBoth& both, const Estimate<Unit>& estimate) {
        const double of_call = estimate.value.value();
        if (std::isnan(of_call)) return;
        calls += (both.before + both.after) * of_call;
        const double off = (both.after - both.before) * of_call * log_sigma(estimate);
        variance += off * off;
    }
};

template <class Unit>
CostDifference difference(const Estimate<Unit>& before, const Estimate<Unit>& after, const Sums<Unit>& sums,
                          double sigma_of_both) {
    CostDifference found;
    const double whole = before.value.value() + after.value.value();
    found.value = after.value.value() - before.value.value();
    const double scale = sums.calls > 0 ? whole / sums.calls : 1;
    const double half = normal_90 * std::hypot(scale * std::sqrt(sums.variance), found.value * sigma_of_both);
    found.low = found.value - half;
    found.high = found.value + half;
    return found;
}

}  // namespace

NetworkDifference difference(const NetworkForecast& before, const NetworkForecast& after, const DeviceModel& device) {
    Sums<Seconds> times;
    Sums<Joules> energies;
    for (const auto& [kind, both] : calls_of_both(before, after)) {
        times.add(both, both.forecast->cost.device_time);
        energies.add(both, both.forecast->energy);
    }
    const double systematic = after.fusion ? after.fusion->sigma : device.sigma_network;
    NetworkDifference found;
    found.time_s = difference(before.time, after.time, times, systematic);
    found.energy_j = difference(before.energy, after.energy, energies, power_facts_of(device).sigma_energy);
    const Estimate<Bytes>& peak_before = before.cost.peak_memory;
    const Estimate<Bytes>& peak_after = after.cost.peak_memory;
    const double more = peak_after.value.value() - peak_before.value.value();
    const double half = std::abs(more) * std::expm1(device.memory_half_width);
    found.peak_memory_bytes = {more, more - half, more + half};
    found.resident_bytes = after.resident_bytes - before.resident_bytes;
    return found;
}

}  // namespace joulecast
