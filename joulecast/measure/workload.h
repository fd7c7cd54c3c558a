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
};

inline void Workload::prepare(std::int64_t /*calls*/, bool /*hot*/) {}
inline std::int64_t Workload::longest_run(bool /*hot*/) const {
    return std::numeric_limits<std::int64_t>::max();
}

/// Where the recipe reads time; passed in so that tests need no real one.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual double now_s() = 0;
};

}  // namespace joulecast
