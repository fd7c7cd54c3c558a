#include <random>

#include "joulecast/measure/energy_window.h"
#include "joulecast/measure/issue.h"
#include "joulecast/measure/readings.h"
#include "joulecast/measure/recipe.h"

namespace joulecast {

namespace {

/// Share of the budget that the secondary phases (hot, forward alone) get.
constexpr double secondary_share = 0.4;
/// To tell launch-bound calls from others, a rough time is enough.
constexpr double classify_budget_s = 0.02;

/// How a phase is run, once it is known whether it is launch-bound.
struct Driven {
    Workload* workload;
    BlockTimer* timer;
    std::optional<IssueSummary> issue;
};

Driven classify(const Phase& phase, const Instruments& instruments, TimingRule rule, std::mt19937_64& random) {
    Driven driven{phase.workload, &instruments.timer, std::nullopt};
    if (!phase.workload->runs_apart()) return driven;
    rule.budget_s = std::min(rule.budget_s, classify_budget_s);
    const Timing rough = time_calls(*phase.workload, {instruments.clock, instruments.timer}, rule, false, random);
    driven.issue = measure_issue(*phase.workload, instruments.clock, rough.summary.median_s);
    if (!driven.issue->launch_bound || !phase.replay) return driven;
    const Replay replay = phase.replay();
    if (replay.workload == nullptr) return driven;
    driven.workload = replay.workload;
    if (replay.timer != nullptr) driven.timer = replay.timer;
    driven.issue->device_time_by = replay.device_time_by;
    return driven;
}

Timing time(const Driven& driven, const Instruments& instruments, const TimingRule& rule, bool hot,
            std::mt19937_64& random) {
    return time_calls(*driven.workload, {instruments.clock, *driven.timer}, rule, hot, random);
}

TimingRule secondary(TimingRule rule) {
    rule.budget_s *= secondary_share;
    rule.warm_up_s *= secondary_share;
    return rule;
}

void take_energy(const Driven& driven, const Instruments& instruments, const MeasureSettings& settings,
                 double load_on_s, Readings& readings) {
    readings.energy_missing_reason = why_no_energy(instruments, settings);
    if (!readings.energy_missing_reason.empty()) return;
    EnergyRule rule;
    rule.window_s = settings.energy_window_s;
    rule.load_on_s = load_on_s;
    rule.call_s = readings.time.mean_s;
    rule.time_half_width_s = readings.time.half_width_s;
    rule.waits_between_calls = driven.issue && driven.issue->launch_bound && driven.issue->device_time_by != "graph";
    rule.seed = settings.seed;
    EnergyResult result =
        measure_energy(*driven.workload, *instruments.meter, instruments.clock, rule, instruments.traits);
    readings.energy = std::move(result.summary);
    readings.energy_missing_reason = std::move(result.missing_reason);
}

}  // namespace

Readings joulecast_readings(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings) {
    std::mt19937_64 random(settings.seed);
    const TimingRule rule = timing_rule(settings);
    TimingRule whole_rule = rule;
    Readings readings;
    if (calls.forward.workload != nullptr) {
        const Driven forward = classify(calls.forward, instruments, secondary(rule), random);
        readings.forward = time(forward, instruments, secondary(rule), false, random).summary;
        whole_rule.budget_s *= 1 - secondary_share;  // both share one budget: training takes no longer than inference
    }
    const Driven whole = classify(calls.whole, instruments, rule, random);
    readings.issue = whole.issue;
    if (calls.hot) readings.hot = time(whole, instruments, secondary(rule), true, random).summary;

    // Last, so that the load is on and the meter has settled when the energy window begins.
    readings.before = state_now(instruments);
    const double start_s = instruments.clock.now_s();
    Timing timing = time(whole, instruments, whole_rule, false, random);
    readings.time = timing.summary;
    readings.block_s = std::move(timing.block_s);
    take_energy(whole, instruments, settings, instruments.clock.now_s() - start_s, readings);
    readings.after = state_now(instruments);
    readings.between_states_s = instruments.clock.now_s() - start_s;
    return readings;
}

}  // namespace joulecast
