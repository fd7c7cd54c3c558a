#include "joulecast/predict/forecast_network.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/predict/compose.h"
#include "joulecast/predict/device_power.h"
#include "joulecast/predict/hosts.h"

namespace joulecast {
namespace {

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

/// `added_s`: what a host adds to the sum of the operations.
void share_evidence(NetworkForecast& forecast, double added_s) {
    double total = 0;
    for (const OperationForecast& operation : forecast.operations) {
        const double time = operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        forecast.evidence_share[operation.evidence] += time;
        total += time;
    }
    if (added_s > 0) {
        forecast.evidence_share[forecast.host_evidence] += added_s;
        total += added_s;
    }
    for (auto& [evidence, share] : forecast.evidence_share) share = total > 0 ? share / total : 0;
}

void share_power_evidence(NetworkForecast& forecast) {
    double total = 0;
    for (const OperationForecast& operation : forecast.operations) {
        const double energy = operation.energy.value.value() * static_cast<double>(operation.count);
        if (!(energy > 0)) continue;
        forecast.power_evidence_share[operation.power_evidence] += energy;
        total += energy;
    }
    for (auto& [evidence, share] : forecast.power_evidence_share) share /= total;
}

template <class Unit>
Estimate<Unit> with_sigma(double value, double sigma) {
    return {Unit(value), Unit(value / spread_90(sigma)), Unit(value * spread_90(sigma))};
}

/// `own` are the parts from the host of the operations, `parts` those from the host asked for.
void set_time(NetworkForecast& forecast, const DeviceModel& device, const NetworkParts& own, const NetworkParts& parts,
              const NetworkCorrection& correction) {
    const double time = composed_seconds(parts, correction);
    const double of_added = share_of_added(parts, correction);
    const double own_sigma = (1 - std::min(1.0, of_added)) * std::hypot(parts.sigma_time, device.sigma_network);
    const double sigma = std::hypot(own_sigma, of_added * parts.sigma_added);
    forecast.time = with_sigma<Seconds>(time, sigma);
    forecast.cost.device_time = with_sigma<Seconds>(device_seconds(parts, correction), sigma);
    forecast.cost.host_time = with_sigma<Seconds>(host_seconds(parts, correction), sigma);
    const double added = time - composed_seconds(own, correction);
    const double low = added / spread_90(parts.sigma_added), high = added * spread_90(parts.sigma_added);
    forecast.host_adds = {Seconds(added), Seconds(std::min(low, high)), Seconds(std::max(low, high))};
    if (host_seconds(parts, correction) > device_seconds(parts, correction)) forecast.limited_by = Bound::host;
}

void set_host(NetworkForecast& forecast, Host host, const DeviceModel& device) {
    forecast.point.host = host;
    if (host == device.point.host) return;
    forecast.host_networks = host_extra(device, host, forecast.mode).networks;
    forecast.host_evidence = forecast.host_networks > 0 ? Evidence::interpolated : Evidence::analytic;
}

/// Which operations' power nobody can tell.
std::string operations_without_power(const NetworkForecast& forecast) {
    std::set<std::string> names;
    for (const OperationForecast& operation : forecast.operations) {
        if (!operation.power.known()) names.insert(operation.operation.target);
    }
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

void set_energy(NetworkForecast& forecast, const DeviceModel& device, const NetworkParts& parts,
                const NetworkCorrection& correction) {
    const PowerFacts power = power_facts_of(device);
    if (!power.known()) {
        forecast.energy_missing_reason = why_no_power(device);
        return;
    }
    const double time = forecast.time.value.value();
    const double energy = composed_joules(parts, correction, power, time);
    if (!std::isfinite(energy)) {
        forecast.energy_missing_reason = "no power known of " + operations_without_power(forecast);
        return;
    }
    share_power_evidence(forecast);
    if (is_at_cap(energy, power, time)) forecast.limited_by = Bound::power_cap;
    forecast.idle_energy_j = std::min(energy, power.idle_w * time);
    forecast.dynamic_energy_j = energy - forecast.idle_energy_j;
    // Measured idle power is known; only what is above it has the operations' errors, and what is below it those of the
    // host.
    const double dynamic_share = energy > 0 ? forecast.dynamic_energy_j / energy : 0;
    const double of_added = (1 - dynamic_share) * share_of_added(parts, correction) * parts.sigma_added;
    // Where no network was measured, nothing has calibrated what the time's error makes of the idle energy.
    const double of_time = has_physical_power(device) ? (1 - dynamic_share) * parts.sigma_time : 0;
    const double of_operations = std::hypot(dynamic_share * parts.sigma_energy, of_added, of_time);
    forecast.energy = with_sigma<Joules>(energy, std::hypot(of_operations, power.sigma_energy));
    if (time > 0) {
        forecast.power =
            with_sigma<Watts>(energy / time, std::hypot(dynamic_share * parts.sigma_power, power.sigma_power));
        if (has_physical_power(device))
            forecast.power.high = std::min(forecast.power.high, Watts(power.cap_w * meter_gain));
    }
    forecast.cost.dynamic_energy = with_sigma<Joules>(forecast.dynamic_energy_j, parts.sigma_energy);
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

std::optional<MemoryPlan> plan_memory(const Graph& graph, const DeviceModel& device,
                                      std::span<const Feature* const> columns) {
    std::map<std::string, double> known;  // a network calls the same operation many times
    const Workspace workspace = [&](const Operation& operation) {
        const auto [place, is_new] = known.try_emplace(signature(operation), 0.0);
        if (!is_new) return place->second;
        const PreparedOperation prepared = prepare(operation, device);
        if (const auto log = forecast_log(device, columns, prepared, Metric::peak_memory)) {
            const double peak = std::exp(log->log_value) - memory_offset_bytes;
            place->second = std::max(0.0, peak - planned_bytes(prepared));
        }
        return place->second;
    };
    return plan_memory(graph, workspace);
}

NetworkForecast forecast_network(const Graph& graph, const std::string& precision, const DeviceModel& device,
                                 std::span<const Feature* const> columns, const MeasuredOperations& measured,
                                 std::optional<Host> host) {
    NetworkForecast forecast;
    forecast.model = graph.name;
    forecast.device = device.device.id;
    forecast.point = device.point;
    forecast.mode = graph.mode;
    forecast.precision = precision;
    for (const auto& [symbol, value] : graph.symbols) forecast.symbols[symbol] = value.value;
    forecast.operations = forecast_operations(device, columns, graph, measured);
    note_unknown(forecast);
    const Host issuer = host.value_or(device.point.host);
    set_host(forecast, issuer, device);
    const NetworkCorrection correction = network_correction(device, correction_key(graph.mode, precision));
    const NetworkParts own = parts_of(forecast.operations);
    const NetworkParts parts = issued_from(issuer, graph.mode, device, own);
    share_evidence(forecast, parts.added_device_s);
    set_time(forecast, device, own, parts, correction);
    set_energy(forecast, device, parts, correction);
    for (OperationForecast& operation : forecast.operations)
        operation = issued_from(issuer, device, std::move(operation));
    const auto plan = plan_memory(graph, device, columns);
    forecast.cost.peak_memory = memory_estimate(plan, device.memory_half_width);
    if (plan) {
        forecast.resident_bytes = plan->resident_bytes;
    } else {
        forecast.memory_missing_reason =
            "a bag of operations has no edges, so nobody knows which tensors live together";
    }
    const auto dearest = [](const OperationForecast& a, const OperationForecast& b) {
        return a.cost.device_time.value.value() * static_cast<double>(a.count) >
               b.cost.device_time.value.value() * static_cast<double>(b.count);
    };
    std::stable_sort(forecast.operations.begin(), forecast.operations.end(), dearest);
    return forecast;
}

}  // namespace joulecast
