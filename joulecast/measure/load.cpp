#include "joulecast/measure/load.h"

#include <algorithm>
#include <cmath>

namespace joulecast {

namespace {

/// A call that takes no time must not make chunks of endless length.
constexpr double most_calls_per_chunk = 1e6;

std::int64_t rounded_up(std::int64_t calls, std::int64_t multiple) {
    return (calls + multiple - 1) / multiple * multiple;
}

}  // namespace

Load::Load(Workload& workload, Clock& clock, double call_s, bool hot)
    : workload_(workload), clock_(clock), call_s_(call_s), hot_(hot), apart_(workload.runs_apart()) {}

void Load::keep_on(double chunk_s) {
    const double wanted = call_s_ > 0.0 ? std::ceil(chunk_s / call_s_) : most_calls_per_chunk;
    const std::int64_t multiple = std::max<std::int64_t>(1, workload_.run_multiple());
    const auto chunk = rounded_up(static_cast<std::int64_t>(std::clamp(wanted, 1.0, most_calls_per_chunk)), multiple);
    // The call being done may be about to end: what stands behind it must be a chunk.
    if (apart_ && workload_.pending() >= 2 * chunk) return;
    if (!running_) {
        running_ = true;
        started_s_ = clock_.now_s();
    }
    const std::int64_t longest = std::max<std::int64_t>(1, workload_.longest_run(hot_));
    for (std::int64_t left = chunk; left > 0; left -= longest) issue(std::min(left, longest));
}

void Load::issue(std::int64_t calls) {
    workload_.prepare(calls, hot_);
    const double start_s = apart_ ? 0.0 : clock_.now_s();
    workload_.issue(calls, hot_);
    if (!apart_) busy_s_ += clock_.now_s() - start_s;
    calls_ += calls;
}

void Load::keep_on_for(double seconds, double chunk_s) {
    const double end_s = clock_.now_s() + seconds;
    while (clock_.now_s() < end_s) keep_on(chunk_s);
    // A device apart has taken its queue in advance and is not waited for: the load stays on.
}

void Load::drain() {
    workload_.wait();
    if (apart_ && running_) busy_s_ += clock_.now_s() - started_s_;
    running_ = false;
}

}  // namespace joulecast
