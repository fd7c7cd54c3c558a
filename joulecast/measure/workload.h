#pragma once

#include <cstdint>
#include <limits>
#include <string>

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

/// A workload on a device that works apart from its host (a GPU). run() issues calls and waits for them; what follows
/// tells the two sides apart. Seconds of the device are read from its own events.
class DeviceWorkload : public Workload {
  public:
    struct Issued {
        double host_s = 0.0;    ///< until the last call was issued
        double device_s = 0.0;  ///< from the start of the first call to the end of the last, gaps included
    };
    /// Issues the calls one by one, then waits.
    virtual Issued issue(std::int64_t calls, bool hot) = 0;
    /// Captures `calls` calls, unrolled over the sets in turn, so that they can be replayed without the host issuing
    /// each; replaces what was captured before. Returns why it cannot be done, or an empty text.
    virtual std::string capture(std::int64_t calls, bool hot) = 0;
    /// Replays the capture `times` times back to back and waits; seconds of the device.
    virtual double replay(std::int64_t times) = 0;
    /// Issues the calls while the device is held busy for `hold_s`, so that none of them waits for the host; seconds of
    /// the device for the calls alone.
    virtual double issue_behind(double hold_s, std::int64_t calls, bool hot) = 0;
};

/// Where the recipe reads time; passed in so that tests need no real one.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual double now_s() = 0;
};

}  // namespace joulecast
