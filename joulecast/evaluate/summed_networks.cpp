#include "joulecast/evaluate/summed_networks.h"

#include <cmath>

#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// Half of the 95 % interval behind one of 90 %.
template <class Unit>
double half_width_95(const Estimate<Unit>& estimate) {
    return (estimate.high.value() - estimate.low.value()) / 2 * normal_95 / normal_90;
}

SummedNetwork summed(const TrainingNetwork& network, const MeasuredOperations& measured) {
    SummedNetwork sum;
    const NetworkMeasurement& m = sum.measurement = network.measurement;
    sum.time_s = {m.time.median_s, m.time.half_width_s};
    sum.energy_j.value = measured_joules(m);
    if (m.energy) sum.energy_j.half_width = m.energy->half_width_j;
    double time_s = 0, time_variance = 0, energy_j = 0, energy_variance = 0;
    for (const CountedOperation& counted : count_operations(network.graph)) {
        const Family kind = family(counted.operation);
        if (kind == Family::view || kind == Family::symbolic) continue;
        sum.calls += counted.count;
        const auto found = measured.find(signature(counted.operation));
        if (found == measured.end()) continue;
        sum.measured_calls += counted.count;
        const auto count = static_cast<double>(counted.count);
        const MeasuredOperation& one = found->second;
        const double seconds = one.time.value.value();
        const double watts = one.power.value.value();
        const double time_error = half_width_95(one.time);
        time_s += count * seconds;
        time_variance += std::pow(count * time_error, 2);
        energy_j += count * seconds * watts;
        energy_variance += std::pow(count * std::hypot(watts * time_error, seconds * half_width_95(one.power)), 2);
    }
    if (sum.measured_calls == 0) return sum;
    sum.summed_time_s = {time_s, std::sqrt(time_variance)};
    sum.summed_energy_j = {energy_j, std::sqrt(energy_variance)};
    return sum;
}

}  // namespace

std::vector<SummedNetwork> summed_networks(std::span<const TrainingNetwork> networks,
                                           const MeasuredOperations& measured) {
    std::vector<SummedNetwork> all;
    for (const TrainingNetwork& network : networks) all.push_back(summed(network, measured));
    return all;
}

}  // namespace joulecast
