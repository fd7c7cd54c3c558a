#include "joulecast/evaluate/baseline_networks.h"

#include <cmath>
#include <utility>

#include "joulecast/graph/family.h"

namespace joulecast {
namespace {

BaselineNetwork blank(std::string_view model, const TrainingNetwork& network, const Device& device) {
    const NetworkMeasurement& m = network.measurement;
    BaselineNetwork result;
    result.model = model;
    result.network = m.model;
    result.device = device.id;
    result.symbols = m.symbols;
    result.mode = m.mode;
    result.precision = m.precision;
    result.measured_time_s = m.time.median_s;
    result.measured_energy_j = measured_joules(m);
    return result;
}

struct Call {
    PreparedOperation operation;
    std::int64_t count = 1;
};

std::vector<Call> calls_of(const Graph& graph, const Device& device, Math math) {
    std::vector<Call> calls;
    for (const CountedOperation& counted : count_operations(graph)) {
        PreparedOperation prepared = prepare(counted.operation, device, math);
        if (costs_nothing(prepared.family())) continue;
        calls.push_back({std::move(prepared), counted.count});
    }
    return calls;
}

/// As training rows have it: as read, else as asked for, else that of the model.
double clock_of(const NetworkMeasurement& network, const OperatingPoint& point) {
    if (network.real.sm_clock_mhz > 0) return network.real.sm_clock_mhz;
    return network.asked.sm_clock_mhz > 0 ? network.asked.sm_clock_mhz : point.sm_clock_mhz;
}

/// Sums over what has a forecast; NaN where nothing has.
BaselineNetwork summed(const FittedBaselines& published, std::size_t which, const std::vector<Call>& calls,
                       BaselineNetwork result, const Subject& subject_of_all) {
    double time = 0, energy = 0;
    bool any_energy = false;
    for (const Call& call : calls) {
        Subject subject = subject_of_all;
        subject.operation = &call.operation;
        const auto times = static_cast<double>(call.count);
        result.calls += call.count;
        const double of_call = published.forecast(which, BaselineMetric::time, subject);
        if (!std::isfinite(of_call)) {
            result.calls_without_forecast += call.count;
            continue;
        }
        time += times * of_call;
        const double joules = published.forecast(which, BaselineMetric::energy, subject);
        if (!std::isfinite(joules)) continue;
        any_energy = true;
        energy += times * joules;
    }
    if (result.calls_without_forecast < result.calls) result.predicted_time_s = time;
    if (any_energy) result.predicted_energy_j = energy;
    if (result.calls_without_forecast > 0) result.reason = published.baselines()[which]->gaps;
    return result;
}

}  // namespace

void append_networks(const FittedBaselines& published, const TrainingNetwork& network, const Device& device,
                     const OperatingPoint& point, std::vector<BaselineNetwork>& out) {
    if (published.baselines().empty()) return;
    const auto calls = calls_of(network.graph, device, point.math);
    const Subject subject{nullptr, &device, clock_of(network.measurement, point), point.math};
    for (std::size_t which = 0; which < published.baselines().size(); ++which) {
        const auto start = blank(published.baselines()[which]->name, network, device);
        out.push_back(summed(published, which, calls, start, subject));
    }
}

std::vector<FittedNetworkBaseline> fit_network_baselines(std::span<const NetworkBaseline* const> methods,
                                                         std::span<const TrainingNetwork> networks,
                                                         const Device& device) {
    std::vector<FittedNetworkBaseline> fitted;
    for (const NetworkBaseline* method : methods) fitted.push_back({method, method->fit(networks, device)});
    return fitted;
}

void append_networks(std::span<const FittedNetworkBaseline> fitted, const TrainingNetwork& network,
                     const Device& device, std::vector<BaselineNetwork>& out) {
    for (const FittedNetworkBaseline& baseline : fitted) {
        BaselineNetwork result = blank(baseline.method->name, network, device);
        result.predicted_time_s = baseline.forecast(network);
        if (!std::isfinite(result.predicted_time_s)) result.reason = baseline.method->gaps;
        out.push_back(std::move(result));
    }
}

}  // namespace joulecast
