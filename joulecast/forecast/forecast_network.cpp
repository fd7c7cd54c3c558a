#include "joulecast/forecast/forecast_network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <type_traits>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/at_point.h"
#include "joulecast/forecast/clock_balance.h"
#include "joulecast/forecast/compiled_calls.h"
#include "joulecast/forecast/compose.h"
#include "joulecast/forecast/depthwise_convolution.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/evidence_shares.h"
#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/forecast/forecast_calls.h"
#include "joulecast/forecast/fused_calls.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/forecast/own_limit.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/forecast/timeline_at_point.h"
#include "joulecast/forecast/unseen_network.h"
#include "joulecast/physics/checkpointing.h"

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

/// Relative standard deviation of the time that is of who issues: what another host adds, and another CPU's pace.
double deviation_of_issuing(const NetworkParts& parts, const NetworkCorrection& correction, double of_added) {
    const double of_pace = parts.pace.sigma > 0 ? share_of_host(parts, correction) * parts.pace.sigma : 0;
    return std::hypot(of_added * parts.sigma_added, of_pace);
}

TimeDeviations time_deviations(const NetworkForecast& forecast, const DeviceModel& device, const NetworkParts& parts,
                               const NetworkCorrection& correction) {
    const double of_added = share_of_added(parts, correction);
    TimeDeviations own;
    if (device.unseen) {
        own = deviations_of_unseen(device, forecast.operations, parts, correction);
    } else {
        const double systematic = forecast.fusion ? forecast.fusion->sigma : device.sigma_network;
        own.whole = own.device = own.host = std::hypot(parts.sigma_time, systematic);
    }
    const double of_own = 1 - std::min(1.0, of_added);
    const double of_issuing = deviation_of_issuing(parts, correction, of_added);
    for (double* deviation : {&own.whole, &own.device, &own.host})
        *deviation = std::hypot(of_own * *deviation, of_issuing);
    return own;
}

/// `own` are the parts from the host of the operations, `parts` those from the host asked for.
void set_time(NetworkForecast& forecast, const DeviceModel& device, const NetworkParts& own, const NetworkParts& parts,
              const NetworkCorrection& correction) {
    const double time = composed_seconds(parts, correction);
    const TimeDeviations off = time_deviations(forecast, device, parts, correction);
    forecast.time = with_sigma<Seconds>(time, off.whole);
    forecast.cost.device_time = with_sigma<Seconds>(device_seconds(parts, correction), off.device);
    forecast.cost.host_time = with_sigma<Seconds>(host_seconds(parts, correction), off.host);
    const double added = time - composed_seconds(own, correction);
    const double spread = spread_90(std::hypot(parts.sigma_added, parts.pace.sigma));
    const double low = added / spread, high = added * spread;
    forecast.host_adds = {Seconds(added), Seconds(std::min(low, high)), Seconds(std::max(low, high))};
    if (host_seconds(parts, correction) > device_seconds(parts, correction)) forecast.limited_by = Bound::host;
}

void set_host(NetworkForecast& forecast, Host host, const DeviceModel& device) {
    forecast.point.host = host;
    if (device.issuer) {
        forecast.point.host_cpu = device.issuer->cpu;
        forecast.host_evidence = Evidence::analytic;
    }
    if (device.published) return;  // published methods know no host
    if (host == device.point.host) {
        if (device.unseen) forecast.host_evidence = Evidence::extrapolated;  // issued on other machines
    } else {
        forecast.host_networks = host_extra(device, host, forecast.mode).networks;
        const bool is_fitted = forecast.host_networks > 0 && !device.issuer;
        forecast.host_evidence = is_fitted ? Evidence::interpolated : Evidence::analytic;
    }
    const bool is_known = device.issuer || forecast.host_evidence == Evidence::measured ||
                          forecast.host_evidence == Evidence::interpolated;
    if (!is_known && device.device.kind == Device::Kind::gpu) forecast.guessed_host_pace = pace_of_hosts(device);
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

/// `power` at the clocks of the forecast.
void set_energy(NetworkForecast& forecast, const DeviceModel& device, const PowerFacts& power,
                const NetworkParts& parts, const NetworkCorrection& correction) {
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
    const double of_issuing =
        (1 - dynamic_share) * deviation_of_issuing(parts, correction, share_of_added(parts, correction));
    // Where no network was measured, nothing has calibrated what the time's error makes of the idle energy.
    const double of_time = has_physical_power(device) ? (1 - dynamic_share) * parts.sigma_time : 0;
    const double of_operations = std::hypot(dynamic_share * parts.sigma_energy, of_issuing, of_time);
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

void set_memory(NetworkForecast& forecast, const DeviceModel& device, std::optional<MemoryPlan> plan) {
    forecast.cost.peak_memory = memory_estimate(plan, device.memory_half_width);
    if (!plan) {
        forecast.memory_missing_reason =
            "a list of operations without edges does not say which tensors exist at the same time";
        return;
    }
    forecast.resident_bytes = plan->resident_bytes;
    forecast.memory_fit = memory_fit(*plan, device.device);
    forecast.overflow = overflow_text(*plan, *forecast.memory_fit, device.device);
    forecast.memory_plan = std::make_shared<const MemoryPlan>(*std::move(plan));
}

/// What the optimizer takes of the time: that without it left out.
Estimate<Seconds> update_time(const NetworkForecast& forecast, const NetworkParts& parts, const IssueOrder& order,
                              const NetworkCorrection& correction) {
    if (forecast.training.optimizer == Optimizer::none) return {};
    std::vector<OperationForecast> before;
    std::copy_if(forecast.operations.begin(), forecast.operations.end(), std::back_inserter(before),
                 [](const OperationForecast& operation) { return operation.part != StepPart::update; });
    NetworkParts others = parts_of(before);
    const double share_of_calls = parts.calls > 0 ? others.calls / parts.calls : 1;
    others.added_host_s = parts.added_host_s * share_of_calls;
    others.added_device_s = parts.added_device_s * share_of_calls;
    others.pace = parts.pace;
    if (parts.host_s == 0) others.host_s = 0;
    for (std::size_t i = 0; i < parts.steps.size(); ++i) {
        if (order.calls[i].part == StepPart::update) continue;
        others.steps.push_back(parts.steps[i]);
        if (share_of_calls > 0) others.steps.back().share_of_added /= share_of_calls;
    }
    const double whole = composed_seconds(parts, correction);
    const double update = std::max(0.0, whole - composed_seconds(others, correction));
    const double sigma = log_sigma(forecast.time);
    return with_sigma<Seconds>(update, sigma);
}

/// A forecast with all that it was composed from.
struct ComposedNetwork {
    NetworkForecast forecast;  ///< operations as the order has their kinds
    IssueOrder order;
    NetworkParts parts;
    NetworkCorrection correction;
    std::vector<double> dynamic_j;                               ///< of a call of each kind
    double demand_w = std::numeric_limits<double>::quiet_NaN();  ///< what it would draw if no limit held it
};

/// What a network is asked for.
struct Asked {
    const std::string& precision;
    std::optional<Host> host;
    const TrainingSetup& training;
};

void set_clocks(OperatingPoint& point, const ClockParameters& parameters, const ClockPlace& at) {
    point.sm_clock_mhz = at.x * parameters.highest_mhz;
    if (parameters.memory_mhz > 0) point.memory_clock_mhz = at.y * parameters.memory_mhz;
}

ComposedNetwork compose_network(const Graph& graph, const Asked& asked, ForecastCache& known) {
    const DeviceModel& device = known.device();
    if (known.host() != device.point.host)
        throw Error("a network is forecast from calls of the host that the device was measured with, not of host " +
                    std::string(name(known.host())) + ".");
    ComposedNetwork composed;
    NetworkForecast& forecast = composed.forecast;
    forecast.model = graph.name;
    forecast.device = device.device.id;
    if (device.published) forecast.method = name(device.published->method);
    forecast.point = device.point;
    if (device.over_clocks) set_clocks(forecast.point, *device.clocks, known.clocks());
    forecast.mode = graph.mode;
    forecast.precision = asked.precision;
    forecast.training = asked.training;
    for (const auto& [symbol, value] : graph.symbols) forecast.symbols[symbol] = value.value;
    if (asked.training.checkpointing)
        forecast.checkpointed_blocks = static_cast<std::int64_t>(checkpoint_segments(graph).size());
    composed.order = issue_order(graph, asked.training, device.device.kind);
    const FusionModel* fusion = fusion_of(device, graph, asked.precision);
    if (is_compiled_by_rule(device)) {
        composed.order = as_compiled(composed.order, graph, device);
        forecast.fusion = compiled_calls(composed.order);
    } else if (fusion != nullptr) {
        composed.order = with_fusion(composed.order, graph, *fusion);
        forecast.fusion = fused_calls(composed.order, *fusion);
    }
    forecast.operations = forecast_calls(composed.order, known);
    note_unknown(forecast);
    const Host issuer = asked.host.value_or(device.point.host);
    set_host(forecast, issuer, device);
    // Factors of roles were fitted to whole networks, so a network needs no other.
    if (fusion == nullptr)
        composed.correction = network_correction(device, correction_key(graph.mode, asked.precision));
    const NetworkParts own = parts_of(forecast.operations, composed.order);
    composed.parts = issued_from(issuer, graph.mode, device, own);
    forecast.composition = composition_of(own);
    share_evidence(forecast, composed.parts.added_device_s);
    set_time(forecast, device, own, composed.parts, composed.correction);
    forecast.update_time = update_time(forecast, composed.parts, composed.order, composed.correction);
    PowerFacts power = power_facts_at(device, known.clocks());
    // No network told of both at once, and of this network's time more is known than of any network's.
    if (device.unseen && has_physical_power(device))
        power.sigma_energy = std::hypot(power.sigma_power, log_sigma(forecast.time));
    set_energy(forecast, device, power, composed.parts, composed.correction);
    const double seconds = forecast.time.value.value();
    composed.demand_w = unlimited_joules(composed.parts, composed.correction, power, seconds) / seconds;
    for (OperationForecast& operation : forecast.operations) {
        composed.dynamic_j.push_back(operation.cost.dynamic_energy.value.value());
        operation = issued_from(issuer, device, std::move(operation));
    }
    const MemorySettings memory = memory_settings(device.device, issuer, workspace_of(known), asked.training);
    set_memory(forecast, device, plan_memory(graph, memory));
    forecast.limited_by = bound_of(forecast, device);
    forecast.compute_share = compute_share(forecast.operations);
    forecast.beyond_indices = beyond_indices(forecast.operations, device.device);
    forecast.sponner = sponner_bounds(graph, memory.workspace);
    return composed;
}

/// The network at each clock that operations were measured at; empty for a model of one clock.
std::vector<ForecastAtClock> forecasts_at_clocks(const Graph& graph, const Asked& asked, ForecastCache& known) {
    std::vector<ForecastAtClock> forecasts;
    if (!known.device().over_clocks) return forecasts;
    for (const TrainedClock& clock : known.device().over_clocks->trained) {
        const NetworkForecast there = compose_network(graph, asked, known.at(clock)).forecast;
        ForecastAtClock& at_clock =
            forecasts.emplace_back(clock.sm_clock_mhz, clock.memory_clock_mhz, there.time, there.cost.device_time,
                                   there.cost.host_time, there.power, there.energy);
        for (const OperationForecast& call : there.operations)
            at_clock.calls.push_back({call.cost.device_time, call.power, call.cost.dynamic_energy, call.evidence});
    }
    return forecasts;
}

/// Dearest first, at every clock alike.
void sort_by_cost(NetworkForecast& forecast) {
    std::vector<std::size_t> order(forecast.operations.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto cost = [&](std::size_t i) {
        const OperationForecast& operation = forecast.operations[i];
        return operation.cost.device_time.value.value() * static_cast<double>(operation.count);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cost(a) > cost(b); });
    const auto sorted = [&order](auto& values) {
        std::remove_reference_t<decltype(values)> by_cost;
        by_cost.reserve(values.size());
        for (const std::size_t i : order) by_cost.push_back(std::move(values[i]));
        values = std::move(by_cost);
    };
    sorted(forecast.operations);
    for (ForecastAtClock& there : forecast.at_clocks) sorted(there.calls);
}

std::vector<TimedCall> timed_calls(const ComposedNetwork& composed) {
    const Timeline line = composed_timeline(composed.parts, composed.correction);
    std::vector<TimedCall> calls;
    double dynamic_j = 0;
    for (std::size_t i = 0; i < composed.order.calls.size(); ++i) {
        const IssuedCall& call = composed.order.calls[i];
        const CallKind& kind = composed.order.kinds[call.kind];
        if (family(kind.operation) == Family::symbolic) continue;
        const double share = call.part == StepPart::backward ? 1 - kind.forward_work : kind.forward_work;
        calls.push_back({call.kind, call.part, call.node, line.issue_start_s[i], line.issue_end_s[i],
                         line.device_start_s[i], line.device_end_s[i], share * composed.dynamic_j[call.kind]});
        dynamic_j += calls.back().dynamic_j;
    }
    // Corrections, the power limit and what another host draws are of the network as a whole.
    for (TimedCall& call : calls)
        call.dynamic_j *=
            dynamic_j > 0 ? composed.forecast.dynamic_energy_j / dynamic_j : std::numeric_limits<double>::quiet_NaN();
    return calls;
}

}  // namespace

std::string correction_key(Mode mode, const std::string& precision) {
    return std::string(name(mode)) + "|" + precision;
}

NetworkForecast forecast_network(const Graph& graph, const std::string& precision, const DeviceModel& device,
                                 std::span<const Feature* const> columns, const MeasuredOperations& measured,
                                 std::optional<Host> host, const TrainingSetup& training) {
    ForecastCache known(device, columns, measured);
    return forecast_network(graph, precision, known, host, training);
}

NetworkForecast forecast_network(const Graph& graph, const std::string& precision, ForecastCache& known,
                                 std::optional<Host> host, const TrainingSetup& training) {
    ComposedNetwork composed = compose_network(graph, {precision, host, training}, known);
    NetworkForecast& forecast = composed.forecast;
    forecast.at_clocks = forecasts_at_clocks(graph, {precision, host, training}, known);
    sort_by_cost(forecast);
    // Over clocks it holds at the highest ones, as far as the device's own limit lets it run there.
    if (!forecast.at_clocks.empty()) return at_point(forecast, known.device(), {});
    const auto unlimited = without_limit(forecast, known.device(), composed.demand_w);
    if (!unlimited) return std::move(forecast);
    NetworkForecast held = at_point(*unlimited, known.device(), {});
    held.power = forecast.power;  // surely near the limit, however much more it would draw
    return held;
}

NetworkTimeline forecast_timeline(const Graph& graph, const std::string& precision, ForecastCache& known,
                                  std::optional<Host> host, const TrainingSetup& training) {
    if (!graph.has_edges)
        throw Error(graph.name +
                    " is a list of operations without edges: their order is unknown, so it has no "
                    "timeline. Use a graph with edges (joulecast help exporting)");
    ComposedNetwork composed = compose_network(graph, {precision, host, training}, known);
    std::vector<TimedCall> calls = timed_calls(composed);
    const auto unlimited = without_limit(composed.forecast, known.device(), composed.demand_w);
    if (!unlimited) return {std::move(composed.forecast), std::move(calls)};
    NetworkTimeline held = timeline_at_point({*unlimited, std::move(calls)}, known.device(), {});
    held.forecast.power = composed.forecast.power;
    return held;
}

TrainingSetup measured_training(const Graph& graph, const NetworkMeasurement& measurement) {
    TrainingSetup training;
    if (graph.mode == Mode::training && graph.has_edges) training.optimizer = measurement.optimizer;
    return training;
}

}  // namespace joulecast
