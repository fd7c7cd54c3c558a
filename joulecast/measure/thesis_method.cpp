#include "joulecast/measure/thesis_method.h"

#include <algorithm>
#include <cmath>

#include "joulecast/measure/blocks.h"
#include "joulecast/measure/errors.h"
#include "joulecast/measure/run_log.h"
#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

constexpr double channel_sigmas = 3.0;
/// torch.utils.benchmark's blocked_autorange makes blocks a thousandth of the minimum run time, but the log needs a
/// line now and then; the thesis' logs have one every 10 to 50 ms.
constexpr double block_s = 0.01;
constexpr double warm_up_s = 0.05;
constexpr double log_every_s = 0.01;
constexpr std::size_t fewest_blocks = 2;
/// Blocks of calls that take no time would never fill the run.
constexpr std::size_t most_blocks = 100'000;

std::vector<double> watts_of(std::span<const PowerSample> log) {
    std::vector<double> watts;
    watts.reserve(log.size());
    for (const PowerSample& sample : log) {
        if (std::isfinite(sample.power_w)) watts.push_back(sample.power_w);
    }
    return watts;
}

/// Blocks for the minimum run time; the meter is looked at between them where there is one.
Blocks timed_blocks(const Phase& phase, const Instruments& instruments, double run_s, RunLog* log) {
    const double call_s = burn_in(*phase.workload, instruments.timer, warm_up_s, false);
    Blocks blocks;
    blocks.length = calls_lasting(*phase.workload, call_s, block_s);
    for (double total_s = 0.0; total_s < run_s || blocks.seconds.size() < fewest_blocks;
         total_s += blocks.seconds.back()) {
        if (log != nullptr) log->look();
        blocks.add(timed(*phase.workload, instruments.timer, blocks.length, false));
        if (blocks.seconds.size() == most_blocks) break;
    }
    if (log != nullptr) log->look();
    return blocks;
}

double total_sigma_s(const Blocks& blocks) {
    return standard_deviation(blocks.seconds) * std::sqrt(static_cast<double>(blocks.seconds.size()));
}

TimeSummary summary_of(const Blocks& blocks, const ThesisResult& result) {
    TimeSummary time = plain_summary(blocks.per_call(), blocks.length);
    time.half_width_s = half_width_95(result.time_sigma_s);
    time.converged = true;  // the method has no stopping rule but the clock
    return time;
}

EnergySummary summary_of(const ThesisPower& power, const ThesisResult& result, const Blocks& blocks,
                         const MeterFacts& meter) {
    EnergySummary energy;
    energy.energy_j = result.energy_j;
    energy.power_w = power.mean_w;
    energy.half_width_j = half_width_95(result.energy_sigma_j);
    energy.gain_error = meter.gain_error;
    energy.window_s = blocks.total_s();
    energy.ticks = power.samples;
    energy.calls = blocks.calls();
    energy.meter = meter.name;
    return energy;
}

}  // namespace

ThesisPower thesis_power(std::span<const PowerSample> log) {
    const std::vector<double> readings = watts_of(log);
    ThesisPower power;
    if (readings.size() < 2) return power;
    const double mean_w = mean(readings);
    const double sigma_w = standard_deviation(readings);
    std::vector<double> kept;
    // (3.3) says "smaller"; a log without any spread keeps all of its lines.
    std::copy_if(readings.begin(), readings.end(), std::back_inserter(kept),
                 [&](double watts) { return std::abs(watts - mean_w) < channel_sigmas * sigma_w || watts == mean_w; });
    power.mean_w = mean(kept);
    power.sigma_w = standard_deviation(kept);
    power.samples = static_cast<std::int64_t>(kept.size());
    power.dropped = static_cast<std::int64_t>(readings.size() - kept.size());
    return power;
}

ThesisResult thesis_result(const ThesisPower& power, double total_s, double total_sigma_s, std::int64_t calls) {
    const auto number = static_cast<double>(calls);
    ThesisResult result;
    result.time_s = total_s / number;
    result.time_sigma_s = total_sigma_s / number;
    result.energy_j = power.mean_w * total_s / number;
    result.energy_sigma_j = power.sigma_w * total_s / number;
    return result;
}

Readings thesis_readings(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings) {
    const double run_s = std::max(settings.time_budget_s, thesis_run_s);
    Readings readings;
    if (calls.forward.workload != nullptr) {
        const Blocks blocks = timed_blocks(calls.forward, instruments, run_s, nullptr);
        readings.forward =
            summary_of(blocks, thesis_result({}, blocks.total_s(), total_sigma_s(blocks), blocks.calls()));
    }
    RunLog log(instruments, settings, log_every_s);
    readings.before = state_now(instruments);
    const double start_s = instruments.clock.now_s();
    const Blocks blocks = timed_blocks(calls.whole, instruments, run_s, &log);
    readings.after = state_now(instruments);
    readings.between_states_s = instruments.clock.now_s() - start_s;
    const ThesisPower power = thesis_power(log.samples());
    const ThesisResult result = thesis_result(power, blocks.total_s(), total_sigma_s(blocks), blocks.calls());
    readings.time = summary_of(blocks, result);
    readings.block_s = blocks.per_call();
    readings.energy_missing_reason = log.missing_reason();
    if (readings.energy_missing_reason.empty())
        readings.energy = summary_of(power, result, blocks, instruments.meter->facts());
    return readings;
}

}  // namespace joulecast
