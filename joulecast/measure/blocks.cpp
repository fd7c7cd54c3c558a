#include "joulecast/measure/blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

/// A clock that stands still (or an empty workload) must not make blocks of endless length.
constexpr double most_calls_per_block = 1e7;

}  // namespace

std::int64_t runnable(const Workload& workload, std::int64_t calls) {
    const std::int64_t multiple = std::max<std::int64_t>(1, workload.run_multiple());
    return (calls + multiple - 1) / multiple * multiple;
}

double timed(Workload& workload, BlockTimer& timer, std::int64_t calls, bool hot) {
    const std::int64_t longest = std::max<std::int64_t>(1, workload.longest_run(hot));
    double total_s = 0.0;
    while (calls > 0) {
        const std::int64_t part = std::min(calls, longest);
        workload.prepare(part, hot);
        total_s += timer.run(workload, part, hot);
        calls -= part;
    }
    return total_s;
}

std::int64_t calls_lasting(const Workload& workload, double call_s, double seconds) {
    const double wanted = call_s > 0.0 ? std::ceil(seconds / call_s) : most_calls_per_block;
    return runnable(workload, static_cast<std::int64_t>(std::clamp(wanted, 1.0, most_calls_per_block)));
}

double Blocks::total_s() const {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

std::vector<double> Blocks::per_call() const {
    std::vector<double> result;
    result.reserve(seconds.size());
    for (const double block_s : seconds) result.push_back(block_s / static_cast<double>(length));
    return result;
}

TimeSummary plain_summary(const std::vector<double>& per_call_s, std::int64_t calls_per_block) {
    TimeSummary summary;
    summary.mean_s = mean(per_call_s);
    summary.median_s = median(per_call_s);
    summary.p05_s = quantile(per_call_s, 0.05);
    summary.p95_s = quantile(per_call_s, 0.95);
    summary.blocks = static_cast<std::int64_t>(per_call_s.size());
    summary.effective_blocks = static_cast<double>(per_call_s.size());
    summary.calls_per_block = calls_per_block;
    return summary;
}

double burn_in(Workload& workload, BlockTimer& timer, double seconds, bool hot) {
    constexpr std::int64_t fewest_calls = 3;
    double total_s = 0.0;
    double shortest_s = std::numeric_limits<double>::infinity();
    std::int64_t done = 0;
    std::int64_t batch = 1;
    while ((done < fewest_calls || total_s < seconds) && static_cast<double>(done) < most_calls_per_block) {
        const std::int64_t calls = runnable(workload, batch);
        const double batch_s = timed(workload, timer, calls, hot);
        total_s += batch_s;
        done += calls;
        shortest_s = std::min(shortest_s, batch_s / static_cast<double>(calls));
        // Doubling, but never beyond the time asked for by more than it is long.
        batch = std::min(2 * batch, calls_lasting(workload, shortest_s, std::max(seconds - total_s, 0.0)));
    }
    return shortest_s;
}

}  // namespace joulecast
