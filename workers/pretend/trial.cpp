#include "workers/pretend/trial.h"

#include <algorithm>
#include <cmath>

#include "joulecast/error.h"
#include "joulecast/measure/measure.h"
#include "joulecast/measure/proportionality.h"
#include "joulecast/measure/rotation.h"
#include "joulecast/meter/nvml.h"
#include "workers/pretend/network_work.h"
#include "workers/pretend/point.h"
#include "workers/pretend/power.h"
#include "workers/pretend/random.h"
#include "workers/pretend/sitting.h"
#include "workers/pretend/storages.h"

namespace joulecast::pretend {
namespace {

constexpr double usable_memory = 0.94;  // of the sheet's: the rest is the driver's
/// A card that is too hot lowers its clock to this share.
constexpr double hot_clock_share = 0.85;
constexpr double hot_c = 88;

/// Everything that paces of one trial have in common.
class Bench {
  public:
    Bench(const Card& card, const OperatingPoint& asked, const MeasureSettings& settings, const Luck& luck)
        : card_(card),
          settings_(settings),
          asked_(setting_of(card, asked, settings.threads)),
          limit_w_(power_limit_w(card, asked)),
          luck_(luck) {
        if (luck.thermal && card.is_gpu()) asked_.sm_clock_mhz *= hot_clock_share;
        clock_was_set_ = !std::isnan(asked.sm_clock_mhz);
    }

    const Card& card() const { return card_; }
    const Setting& setting() const { return asked_; }

    Pace pace_of(const Work& work, Host host, double factor, const SpanOf& span) const {
        Setting setting = asked_;
        setting.host = host;
        const Running running = run_within(card_, work, setting, limit_w_, span);
        Pace pace;
        pace.apart = card_.is_gpu();
        pace.span_s = running.span_s * factor * luck_.time;
        pace.host_s = running.effort.host_s * luck_.time;
        pace.power_w = running.power_w * luck_.power;
        pace.idle_w = running.idle_w;
        pace.state = state_of(running);
        return pace;
    }

    /// An operation, called without waiting for the call before.
    Pace operation(const Work& work, Host host) const {
        const bool is_gpu = card_.is_gpu();
        Pace pace = pace_of(work, host, 1.0, [is_gpu](const Effort& effort) {
            return is_gpu ? std::max(effort.busy_s, effort.host_s) : effort.span_s;
        });
        pace.lead_s = std::min(pace.host_s, pace.span_s);
        return pace;
    }
    /// A network, whose result is waited for before the next run begins.
    Pace network(const Work& work, double factor) const {
        return pace_of(work, asked_.host, factor, [](const Effort& effort) { return effort.span_s; });
    }

    /// By the recipe, in pretended time.
    template <class AnyMeasurement>
    void measure(Sitting& sitting, const Calls& calls, AnyMeasurement& measurement) const {
        PretendedTimer by_events(sitting);
        ClockBlockTimer by_clock(sitting);
        PretendedMeter meter(sitting, card_);
        PretendedProbe probe(sitting);
        MeterTraits traits = traits_from(meter.facts());
        traits.read_cost_s = PretendedMeter::read_cost_s(card_);
        traits.idle_power_w = idle_watts(card_, asked_);
        const bool metered = settings_.measure_energy && settings_.meter != "none" && !luck_.no_energy;
        BlockTimer& blocks = card_.is_gpu() ? static_cast<BlockTimer&>(by_events) : by_clock;
        const Instruments instruments{sitting,
                                      blocks,
                                      metered ? &meter : nullptr,
                                      luck_.no_energy ? "the pretended meter was lost" : "not asked for",
                                      traits,
                                      &probe};
        measure_calls(calls, instruments, settings_, measurement);
        measurement.workspace_bytes = 0;
        measurement.wall_s = sitting.now_s();
    }
    Sitting sit_down() const { return {card_, {luck_.noise, luck_.noise / 2}, luck_.seed}; }

  private:
    DeviceState state_of(const Running& running) const {
        DeviceState state;
        state.temperature_c = luck_.thermal ? hot_c : temperature_c(card_, running.power_w);
        if (!card_.is_gpu()) {
            state.performance_state = "pretended";
            return state;
        }
        state.sm_clock_mhz = running.setting.sm_clock_mhz;
        state.memory_clock_mhz = running.setting.memory_clock_mhz;
        state.power_limit_w = limit_w_;
        state.performance_state = "P0";
        if (clock_was_set_) state.throttle_reasons |= throttle::clocks_setting;
        if (running.capped) state.throttle_reasons |= throttle::power_cap;
        if (luck_.thermal) state.throttle_reasons |= throttle::software_thermal;
        state.power_capped_s = state.thermally_limited_s = 0;
        return state;
    }

    const Card& card_;
    const MeasureSettings& settings_;
    Setting asked_;
    double limit_w_;
    Luck luck_;
    bool clock_was_set_ = false;
};

/// What is measured: how calls go by when they are issued one by one, and as a captured graph.
struct Subject {
    Pace eager;
    Pace eager_hot;
    std::optional<Pace> graph;  ///< absent: it cannot be captured
    Pace graph_hot;
};

/// A subject's workloads in a sitting.
class Rounds {
  public:
    Rounds(Sitting& sitting, const Subject& subject, std::int64_t rotation)
        : eager_(sitting, subject.eager, subject.eager_hot, rotation),
          graph_(sitting, subject.graph.value_or(subject.eager), subject.graph_hot, rotation),
          has_graph_(subject.graph.has_value()) {}

    Phase phase(Host host) {
        if (host == Host::graph) return {&graph_, nullptr};
        return {&eager_, [this] { return Replay{has_graph_ ? &graph_ : nullptr, nullptr, "graph"}; }};
    }
    Workload& workload(Host host) { return host == Host::graph ? graph_ : eager_; }

  private:
    PretendedWorkload eager_;
    PretendedWorkload graph_;
    bool has_graph_;
};

/// The work with its kernels finding that share of their bytes in the cache; backward follows forward at once.
Work cached(Work work, double forward, double backward) {
    for (Step& step : work) {
        for (Kernel& kernel : step.kernels) kernel.cached = step.backward ? backward : forward;
    }
    return work;
}

/// Tensors of an operation, rotated over.
struct Sets {
    double bytes = 0;  ///< of one
    std::int64_t rotation = 1;
    double all_bytes() const { return bytes * static_cast<double>(rotation); }
};

Sets sets_of(const Card& card, const Operation& operation, const MeasureSettings& settings) {
    const double bytes = tensor_bytes(operation);
    return {bytes, rotation_for(bytes, {settings.working_set_bytes, card.sheet.last_level_cache_bytes,
                                        usable_memory * card.sheet.memory_bytes})};
}

Subject subject_of(const Bench& bench, const Operation& operation, const Sets& sets, bool whole) {
    const Card& card = bench.card();
    const Work work = work_of(operation, whole);
    const double after = cached_share(card, 2.0 * sets.bytes);
    const Work cold = cached(work, cached_share(card, sets.all_bytes()), after);
    const Work hot = cached(work, cached_share(card, sets.bytes), after);
    const Host host = bench.setting().host;
    const Host eager = host == Host::graph ? Host::cpp : host;
    Subject subject{bench.operation(cold, eager), bench.operation(hot, eager), std::nullopt, {}};
    if (!card.is_gpu() || waits_for_result(operation)) return subject;
    subject.graph = bench.operation(cold, Host::graph);
    subject.graph_hot = bench.operation(hot, Host::graph);
    // One state for the whole trial: that of what is reported as its time.
    for (Pace* pace : {&subject.eager, &subject.eager_hot, &subject.graph_hot}) pace->state = subject.graph->state;
    return subject;
}

template <class AnyMeasurement>
void fail(AnyMeasurement& measurement, Outcome outcome, const std::string& why) {
    measurement.outcome = outcome;
    measurement.message = why;
}

std::string too_much(const Card& card, double bytes) {
    if (bytes <= usable_memory * card.sheet.memory_bytes) return "";
    return "not enough memory: " + std::to_string(static_cast<std::int64_t>(bytes / 1e6)) + " MB are needed, " +
           card.sheet.id + " has " + std::to_string(static_cast<std::int64_t>(card.sheet.memory_bytes / 1e6)) + " MB";
}

/// Why the card cannot do the operation, beyond what its tensors say.
std::string why_not(const Card& card, const Operation& operation, const Setting& setting) {
    if (setting.math == Math::tf32 && !card.has_tf32()) return card.sheet.id + " has no tf32";
    for (const TensorType* type : tensors(operation)) {
        if (!card.has(type->dtype)) return card.sheet.id + " does not compute in " + std::string(name(type->dtype));
    }
    if (setting.host == Host::graph && waits_for_result(operation))
        return "it cannot be captured as a graph: the host waits for its result";
    return why_unsupported(operation);
}

/// What most of the network's weights are.
std::string precision_of(const Graph& graph) {
    double f32 = 0, bf16 = 0, f16 = 0;
    for (const GraphInput& input : graph.inputs) {
        const auto bytes = static_cast<double>(byte_count(input.type));
        if (input.type.dtype == Dtype::f32) f32 += bytes;
        if (input.type.dtype == Dtype::bf16) bf16 += bytes;
        if (input.type.dtype == Dtype::f16) f16 += bytes;
    }
    if (bf16 > f32 && bf16 >= f16) return "bf16";
    return f16 > f32 ? "fp16" : "fp32";
}

/// A network's own factor: the same in every session.
double own_factor(const Card& card, const protocol::MeasureGraph& request) {
    std::string text = card.sheet.id + request.graph.name + std::string(name(request.graph.mode));
    for (const auto& [symbol, range] : request.graph.symbols) text += symbol + std::to_string(range.value);
    return std::exp(card.network_effect * normal(hash_of(text)));
}

}  // namespace

Measurement measure_operation(const Card& card, const protocol::Measure& request, const Luck& luck) {
    const Operation& operation = request.operation;
    Measurement measurement;
    measurement.operation = operation;
    measurement.asked = request.point;
    const Bench bench(card, request.point, request.settings, luck);
    measurement.real = real_point(card, request.point, bench.setting());
    if (const std::string why = why_not(card, operation, bench.setting()); !why.empty()) {
        fail(measurement, Outcome::unsupported, why);
        return measurement;
    }
    const double peak = peak_bytes(operation);
    const Sets sets = sets_of(card, operation, request.settings);
    if (const std::string why = too_much(card, sets.bytes + peak); !why.empty()) {
        fail(measurement, Outcome::out_of_memory, why);
        return measurement;
    }
    measurement.rotation = sets.rotation;
    measurement.working_set_bytes = sets.all_bytes();
    const bool training = mode(operation) == Mode::training;
    Sitting sitting = bench.sit_down();
    Rounds whole(sitting, subject_of(bench, operation, sets, true), sets.rotation);
    Rounds forward(sitting, subject_of(bench, operation, sets, false), sets.rotation);
    Calls calls;
    calls.whole = whole.phase(request.point.host);
    if (training) calls.forward = forward.phase(request.point.host);
    calls.hot = request.settings.measure_hot && sets.bytes > 0 && sets.bytes < card.sheet.last_level_cache_bytes &&
                !(training && writes_in_place(operation));
    calls.peak_memory_bytes = [peak] { return peak; };
    bench.measure(sitting, calls, measurement);
    return measurement;
}

NetworkMeasurement described(const protocol::MeasureGraph& request) {
    NetworkMeasurement measurement;
    measurement.model = request.graph.name;
    for (const auto& [symbol, range] : request.graph.symbols) measurement.symbols[symbol] = range.value;
    measurement.mode = request.graph.mode;
    measurement.precision = precision_of(request.graph);
    if (request.graph.mode == Mode::training) measurement.optimizer = request.optimizer;
    measurement.asked = measurement.real = request.point;
    return measurement;
}

NetworkMeasurement measure_network(const Card& card, const protocol::MeasureGraph& request, const Luck& luck) {
    const Graph& graph = request.graph;
    NetworkMeasurement measurement = described(request);
    const Bench bench(card, request.point, request.settings, luck);
    measurement.real = real_point(card, request.point, bench.setting());
    std::string why = why_unsupported(card, graph);
    if (bench.setting().math == Math::tf32 && !card.has_tf32()) why = card.sheet.id + " has no tf32";
    if (!why.empty()) {
        fail(measurement, Outcome::unsupported, why);
        return measurement;
    }
    measurement.resident_bytes = resident_bytes(graph);
    const double peak = peak_bytes(graph, update_of(measurement.optimizer).state_copies);
    why = too_much(card, measurement.resident_bytes + peak);
    if (!why.empty()) {
        fail(measurement, Outcome::out_of_memory, why);
        return measurement;
    }
    const double factor = own_factor(card, request);
    Sitting sitting = bench.sit_down();
    const Pace pace = bench.network(work_of(card, graph, measurement.optimizer, true), factor);
    Pace pass = bench.network(work_of(card, graph, Optimizer::none, false), factor);
    pass.state = pace.state;
    PretendedWorkload whole(sitting, pace, pace, 1);
    PretendedWorkload forward(sitting, pass, pass, 1);
    Calls calls;
    calls.whole = {&whole, nullptr};
    if (graph.mode == Mode::training) calls.forward = {&forward, nullptr};
    calls.peak_memory_bytes = [peak] { return peak; };
    bench.measure(sitting, calls, measurement);
    return measurement;
}

protocol::TimedRuns time_runs(const Card& card, const protocol::TimeRuns& request, const Luck& luck) {
    const Bench bench(card, request.point, request.settings, luck);
    if (const std::string why = why_not(card, request.operation, bench.setting()); !why.empty()) throw Error(why);
    const Sets sets = sets_of(card, request.operation, request.settings);
    Sitting sitting = bench.sit_down();
    Rounds running(sitting, subject_of(bench, request.operation, sets, true), sets.rotation);
    PretendedTimer timer(sitting);
    protocol::TimedRuns timed;
    timed.runs = time_numbers_of_calls(running.workload(request.point.host), timer, request.calls);
    return timed;
}

protocol::Prepared prepare_point(const Card& card, const protocol::Prepare& request) {
    constexpr double soak_s = 20;
    constexpr double soak_share = 0.7;  // of the limit, that a product draws
    const Setting setting = setting_of(card, request.point, request.settings.threads);
    protocol::Prepared prepared;
    prepared.real = real_point(card, request.point, setting);
    prepared.soak_s = soak_s;
    prepared.temperature_c = temperature_c(card, soak_share * power_limit_w(card, request.point));
    prepared.idle_power_w = idle_watts(card, setting);
    prepared.meter = "pretended-counter";
    prepared.meter_period_s = card.meter_period_s;
    prepared.message = "nothing is measured: " + card.sheet.display_name;
    return prepared;
}

}  // namespace joulecast::pretend
