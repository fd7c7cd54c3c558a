#pragma once

#include <cstdint>
#include <limits>

namespace joulecast {

/// Something that can be called again and again: the recipe's only view of an operation or network. A worker
/// implements it over its framework; tests implement it over a simulated clock.
class Workload {
  public:
    virtual ~Workload() = default;

    /// Issues `calls` calls over the rotating sets (or, if hot, over the first set only) and returns when done.
    virtual void run(std::int64_t calls, bool hot) = 0;
    /// Number of distinct sets of tensors that run() rotates over.
    virtual std::int64_t rotation() const = 0;

    /// Called outside of the timed region before each run of at most longest_run() calls: operations that write into
    /// their inputs get fresh ones here, so that repeated calls do not wander off to infinity or into denormals.
    virtual void prepare(std::int64_t calls, bool hot);
    /// Most calls between two prepare()s; a longer block is timed in parts.
    virtual std::int64_t longest_run(bool hot) const;
    /// run() and issue() are asked for multiples of this: a captured graph replays all of its calls or none.
    virtual std::int64_t run_multiple() const;

    // A device that works apart from its host, like a GPU, overrides these four; on any other the calls are done when
    // issue() returns.

    virtual bool runs_apart() const;
    /// Queues the calls and returns without waiting for them.
    virtual void issue(std::int64_t calls, bool hot);
    /// Calls issued and not yet done, as far as can be told without waiting (whole issue()s, perhaps).
    virtual std::int64_t pending();
    /// Returns when all that was issued is done.
    virtual void wait();
};

inline void Workload::prepare(std::int64_t /*calls*/, bool /*hot*/) {}
inline std::int64_t Workload::longest_run(bool /*hot*/) const {
    return std::numeric_limits<std::int64_t>::max();
}
inline std::int64_t Workload::run_multiple() const {
    return 1;
}
inline bool Workload::runs_apart() const {
    return false;
}
inline void Workload::issue(std::int64_t calls, bool hot) {
    run(calls, hot);
}
inline std::int64_t Workload::pending() {
    return 0;
}
inline void Workload::wait() {}

/// Where the recipe reads time; passed in so that tests need no real one.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual double now_s() = 0;
    /// Returns after that many seconds, in which this thread is idle if it can be: an idling processor draws less.
    virtual void sleep(double seconds);
};

inline void Clock::sleep(double seconds) {
    const double end_s = now_s() + seconds;
    while (now_s() < end_s) {
    }
}

}  // namespace joulecast
