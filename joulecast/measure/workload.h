#pragma once

#include <cstdint>

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
};

/// Where the recipe reads time; passed in so that tests need no real one.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual double now_s() = 0;
};

}  // namespace joulecast
