#include "joulecast/measure/recipe.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "joulecast/measure/blocks.h"
#include "joulecast/measure/stopping_rule.h"

namespace joulecast {

namespace {

constexpr std::int64_t fewest_blocks = 3;
constexpr std::int64_t fewest_warm_up_calls = 3;
/// A clock that stands still (or an empty workload) must not make blocks of endless length.
constexpr double most_calls_per_block = 1e7;

/// Calls until the warm-up is over; returns the shortest time per call seen, which sizes the blocks.
double warm_up(Workload& workload, BlockTimer& blocks, const TimingRule& rule, bool hot) {
    double total_s = 0.0;
    double shortest_s = std::numeric_limits<double>::infinity();
    std::int64_t done = 0;
    for (std::int64_t batch = 1; done < fewest_warm_up_calls || total_s < rule.warm_up_s; batch *= 2) {
        const std::int64_t calls = runnable(workload, batch);
        const double batch_s = timed(workload, blocks, calls, hot);
        total_s += batch_s;
        done += calls;
        shortest_s = std::min(shortest_s, batch_s / static_cast<double>(calls));
        if (shortest_s > rule.budget_s) break;
        // Never overshoot the warm-up by more than it is long.
        const double left_s = std::max(rule.warm_up_s - total_s, 0.0);
        if (shortest_s > 0.0) batch = std::min(batch, static_cast<std::int64_t>(left_s / shortest_s / 2.0) + 1);
        if (done > static_cast<std::int64_t>(most_calls_per_block)) break;
    }
    return shortest_s;
}

}  // namespace

double SteadyClock::now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void SteadyClock::sleep(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

TimingRule timing_rule(const MeasureSettings& settings) {
    return {settings.warm_up_s, settings.time_budget_s, settings.min_block_s, settings.relative_half_width};
}

Timing time_calls(Workload& workload, Clock& clock, const TimingRule& rule, bool hot, std::mt19937_64& random) {
    ClockBlockTimer blocks(clock);
    return time_calls(workload, {clock, blocks}, rule, hot, random);
}

Timing time_calls(Workload& workload, const Stopwatch& stopwatch, const TimingRule& rule, bool hot,
                  std::mt19937_64& random) {
    const double call_s = warm_up(workload, stopwatch.blocks, rule, hot);
    const std::int64_t base_calls = calls_lasting(workload, call_s, rule.min_block_s);
    std::uniform_real_distribution<double> more(0.0, 0.2);
    Timing timing;
    const std::int64_t fewest_to_judge = first_test(call_s);
    std::int64_t test_at = fewest_to_judge;
    bool converged = false;
    double timed_s = 0.0;
    const double start_s = stopwatch.clock.now_s();
    while (true) {
        const auto calls = runnable(
            workload, static_cast<std::int64_t>(std::llround(static_cast<double>(base_calls) * (1.0 + more(random)))));
        const double block_s = timed(workload, stopwatch.blocks, calls, hot);
        timing.block_s.push_back(block_s / static_cast<double>(calls));
        // prepare() is free up to as long again as what is timed.
        timed_s += block_s;
        const double spent_s = std::max(timed_s, (stopwatch.clock.now_s() - start_s) / 2.0);
        const auto blocks = static_cast<std::int64_t>(timing.block_s.size());
        if (blocks == test_at) {
            converged = settled(summarise(timing.block_s), rule.relative_half_width);
            if (converged) break;
            test_at = next_test(test_at);
        }
        if (blocks >= fewest_blocks && spent_s >= rule.budget_s) break;
    }
    timing.summary = summarise(timing.block_s);
    timing.summary.calls_per_block = base_calls;
    timing.summary.converged = converged || (static_cast<std::int64_t>(timing.block_s.size()) >= fewest_to_judge &&
                                             settled(timing.summary, rule.relative_half_width));
    return timing;
}

}  // namespace joulecast
