#include "joulecast/measure/sponner_method.h"

#include <algorithm>
#include <iterator>

#include "joulecast/measure/blocks.h"
#include "joulecast/measure/load.h"
#include "joulecast/measure/run_log.h"
#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

constexpr double burn_in_s = 0.05;
constexpr double fence_ranges = 1.5;

Blocks timed_blocks(Workload& workload, const Instruments& instruments, double min_block_s) {
    const double call_s = burn_in(workload, instruments.timer, burn_in_s, true);
    Blocks blocks;
    blocks.length = calls_lasting(workload, call_s, min_block_s);
    for (std::size_t i = 0; i < sponner_repetitions; ++i) {
        blocks.add(timed(workload, instruments.timer, blocks.length, true));
    }
    return blocks;
}

TimeSummary label(const Blocks& blocks) {
    const std::vector<double> kept = without_outliers(blocks.per_call());
    TimeSummary time = plain_summary(kept, blocks.length);
    time.dropped_blocks = static_cast<std::int64_t>(blocks.seconds.size() - kept.size());
    time.mean_s = time.median_s;
    time.converged = true;  // the number of repetitions is the rule
    return time;
}

/// Power at the end of each repetition.
struct Repetitions {
    std::vector<double> watts;
    std::int64_t calls = 0;
    double busy_s = 0.0;
};

Repetitions repeat(Workload& workload, const Instruments& instruments, double call_s, RunLog& log) {
    Repetitions result;
    const double window_s = std::max(sponner_window_s, instruments.traits.period_s);
    for (std::size_t i = 0; i < sponner_repetitions; ++i) {
        Load load(workload, instruments.clock, call_s, true);
        load.keep_on_for(burn_in_s, burn_in_s / 10.0);
        const std::size_t seen = log.samples().size();
        const double end_s = instruments.clock.now_s() + window_s;
        while (instruments.clock.now_s() < end_s) {
            load.keep_on(window_s / 50.0);
            log.look();
        }
        load.drain();
        result.calls += load.calls();
        result.busy_s += load.busy_s();
        if (log.samples().size() > seen) result.watts.push_back(log.samples().back().power_w);
    }
    return result;
}

void take_power(Workload& workload, const Instruments& instruments, const MeasureSettings& settings,
                Readings& readings) {
    // A counter's power is only as exact as the moments of its renewals are known.
    const bool counts = instruments.meter != nullptr && instruments.meter->facts().counts_energy;
    RunLog log(instruments, settings, counts ? 0.0 : instruments.traits.period_s / 4.0);
    readings.energy_missing_reason = log.missing_reason_so_far();
    if (!readings.energy_missing_reason.empty()) return;
    const Repetitions power = repeat(workload, instruments, readings.time.median_s, log);
    readings.energy_missing_reason = log.missing_reason();
    if (!readings.energy_missing_reason.empty()) return;
    EnergySummary energy;
    energy.power_w = median(without_outliers(power.watts));
    energy.energy_j = energy.power_w * readings.time.median_s;
    energy.gain_error = instruments.meter->facts().gain_error;
    energy.window_s = power.busy_s;
    energy.ticks = static_cast<std::int64_t>(power.watts.size());
    energy.calls = power.calls;
    energy.meter = instruments.meter->facts().name;
    readings.energy = energy;
}

}  // namespace

std::vector<double> without_outliers(std::span<const double> values) {
    const double lower = quantile(values, 0.25);
    const double upper = quantile(values, 0.75);
    const double reach = fence_ranges * (upper - lower);
    std::vector<double> kept;
    std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
                 [&](double value) { return value >= lower - reach && value <= upper + reach; });
    return kept;
}

Readings sponner_readings(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings) {
    Readings readings;
    if (calls.forward.workload != nullptr) {
        readings.forward = label(timed_blocks(*calls.forward.workload, instruments, settings.min_block_s));
    }
    readings.before = state_now(instruments);
    const double start_s = instruments.clock.now_s();
    const Blocks blocks = timed_blocks(*calls.whole.workload, instruments, settings.min_block_s);
    readings.time = label(blocks);
    readings.block_s = blocks.per_call();
    take_power(*calls.whole.workload, instruments, settings, readings);
    readings.after = state_now(instruments);
    readings.between_states_s = instruments.clock.now_s() - start_s;
    return readings;
}

}  // namespace joulecast
