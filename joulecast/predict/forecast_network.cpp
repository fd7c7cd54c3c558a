#include "joulecast/predict/forecast_network.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "joulecast/error.h"
#include "joulecast/physics/timeline.h"

namespace joulecast {
namespace {

constexpr double normal_90 = 1.645;  // half width of a normal's 90 % interval in standard deviations

/// Standard deviation of log(time) that an interval stands for.
double log_sigma(const Estimate<Seconds>& time) {
    const double value = time.value.value();
    if (!(value > 0)) return 0;
    const double up = std::log(time.high.value() / value);
    const double down = time.low.value() > 0 ? std::log(value / time.low.value()) : up;
    return std::max(0.0, (up + down) / 2 / normal_90);
}

/// What a plan holds for a single call anyway: outputs, and in training the gradients of its inputs.
double planned_bytes(const PreparedOperation& operation) {
    double bytes = operation.dimensions.output_bytes;
    for (const TensorType* tensor : tensors(operation.operation)) {
        if (tensor->requires_grad) bytes += static_cast<double>(byte_count(*tensor));
    }
    return bytes;
}

void note_unknown(NetworkForecast& forecast) {
    std::set<std::string> names;
    for (const OperationForecast& operation : forecast.operations) {
        if (operation.evidence != Evidence::unknown) continue;
        forecast.unknown_nodes += operation.count;
        names.insert(operation.operation.target);
    }
    forecast.unknown_operations.assign(names.begin(), names.end());
    forecast.lower_bound = forecast.unknown_nodes > 0;
}

void share_evidence(NetworkForecast& forecast) {
    double total = 0;
    for (const OperationForecast& operation : forecast.operations) {
        const double time = operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        forecast.evidence_share[operation.evidence] += time;
        total += time;
    }
    for (auto& [evidence, share] : forecast.evidence_share) share = total > 0 ? share / total : 0;
}

/// Time of the nodes in order on the two timelines. A CPU computes where it issues, so here host times are zero.
double composed_seconds(std::span<const OperationForecast> operations) {
    std::vector<Step> steps;
    for (const OperationForecast& operation : operations) {
        const auto count = static_cast<double>(operation.count);
        steps.push_back(
            {operation.cost.host_time.value.value() * count, operation.cost.device_time.value.value() * count, false});
    }
    return compose(steps).total_s;
}

Estimate<Bytes> memory_estimate(const std::optional<MemoryPlan>& plan, double half_width) {
    if (!plan) return {};
    return {Bytes(plan->peak_bytes), Bytes(plan->peak_bytes * std::exp(-half_width)),
            Bytes(plan->peak_bytes * std::exp(half_width))};
}

}  // namespace

std::string correction_key(Mode mode, const std::string& precision) {
    return std::string(name(mode)) + "|" + precision;
}

Estimate<Seconds> compose_time(std::span<const OperationForecast> operations, double factor, double sigma_system) {
    const double total = composed_seconds(operations);
    double variance = 0;
    for (const OperationForecast& operation : operations) {
        const double all_calls = operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        const double deviation = all_calls * log_sigma(operation.cost.device_time);
        variance += deviation * deviation;
    }
    const double own = total > 0 ? std::sqrt(variance) / total : 0;
    const double spread = std::exp(normal_90 * std::hypot(own, sigma_system));
    const double time = factor * total;
    return {Seconds(time), Seconds(time / spread), Seconds(time * spread)};
}

std::optional<MemoryPlan> plan_memory(const Graph& graph, const DeviceModel& device,
                                      std::span<const Feature* const> columns) {
    std::map<std::string, double> known;  // a network calls the same operation many times
    const Workspace workspace = [&](const Operation& operation) {
        const auto [place, is_new] = known.try_emplace(signature(operation), 0.0);
        if (!is_new) return place->second;
        const PreparedOperation prepared = prepare(operation, device.device, device.point.math);
        if (const auto log = forecast_log(device, columns, prepared, Metric::peak_memory)) {
            const double peak = std::exp(log->log_value) - memory_offset_bytes;
            place->second = std::max(0.0, peak - planned_bytes(prepared));
        }
        return place->second;
    };
    return plan_memory(graph, workspace);
}

NetworkForecast forecast_network(const Graph& graph, const std::string& precision, const DeviceModel& device,
                                 std::span<const Feature* const> columns, const MeasuredOperations& measured) {
    NetworkForecast forecast;
    forecast.model = graph.name;
    forecast.device = device.device.id;
    forecast.point = device.point;
    forecast.mode = graph.mode;
    forecast.precision = precision;
    for (const auto& [symbol, value] : graph.symbols) forecast.symbols[symbol] = value.value;
    for (const CountedOperation& counted : count_operations(graph)) {
        auto operation =
            forecast_operation(device, columns, prepare(counted.operation, device.device, device.point.math), measured);
        operation.count = counted.count;
        forecast.operations.push_back(std::move(operation));
    }
    note_unknown(forecast);
    share_evidence(forecast);
    const double factor = network_factor(device, correction_key(graph.mode, precision));
    forecast.time = compose_time(forecast.operations, factor, device.sigma_network);
    forecast.cost.device_time = forecast.time;
    forecast.cost.host_time = {Seconds(0), Seconds(0), Seconds(0)};
    const auto plan = plan_memory(graph, device, columns);
    forecast.cost.peak_memory = memory_estimate(plan, device.memory_half_width);
    if (plan) {
        forecast.resident_bytes = plan->resident_bytes;
    } else {
        forecast.memory_missing_reason =
            "a bag of operations has no edges, so nobody knows which tensors live together";
    }
    forecast.energy_missing_reason = "no power measured on this device";
    const auto dearest = [](const OperationForecast& a, const OperationForecast& b) {
        return a.cost.device_time.value.value() * static_cast<double>(a.count) >
               b.cost.device_time.value.value() * static_cast<double>(b.count);
    };
    std::stable_sort(forecast.operations.begin(), forecast.operations.end(), dearest);
    return forecast;
}

}  // namespace joulecast
