#pragma once

#include <cstdint>
#include <vector>

#include "joulecast/measure/block_timer.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

/// `calls`, rounded up to a number that the workload can do.
std::int64_t runnable(const Workload& workload, std::int64_t calls);

/// Seconds that so many calls take, in parts with an untimed prepare() before each where they must be.
double timed(Workload& workload, BlockTimer& timer, std::int64_t calls, bool hot);

/// Runnable calls that last about that long, at least one; a call that takes no time is made 10 million times at most.
std::int64_t calls_lasting(const Workload& workload, double call_s, double seconds);

/// Blocks of calls of one length, as the papers' methods take them: no rule but a number of them.
struct Blocks {
    std::int64_t length = 0;      ///< calls in each
    std::vector<double> seconds;  ///< of each

    void add(double block_s) { seconds.push_back(block_s); }
    std::int64_t calls() const { return length * static_cast<std::int64_t>(seconds.size()); }
    double total_s() const;
    std::vector<double> per_call() const;
};

/// Mean, median and percentiles of these seconds per call, blocks taken for independent; half width NaN.
TimeSummary plain_summary(const std::vector<double>& per_call_s, std::int64_t calls_per_block);

/// Calls for at least that long and three times at least; about what a call takes.
double burn_in(Workload& workload, BlockTimer& timer, double seconds, bool hot);

}  // namespace joulecast
