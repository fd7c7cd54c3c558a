#pragma once

#include <cstdint>

#include "joulecast/measure/workload.h"

namespace joulecast {

/// Times a block of calls. The host's clock does it here; a worker whose device works apart times by the device's own
/// events, so that the host's share does not count.
class BlockTimer {
  public:
    virtual ~BlockTimer() = default;
    /// Seconds that `calls` calls take on the device; returns when they are done. At most longest_run() calls, already
    /// prepared.
    virtual double run(Workload& workload, std::int64_t calls, bool hot) = 0;
};

/// By a clock of the host, read before the first call and after the last is done.
class ClockBlockTimer final : public BlockTimer {
  public:
    explicit ClockBlockTimer(Clock& clock) : clock_(clock) {}

    double run(Workload& workload, std::int64_t calls, bool hot) override {
        const double start_s = clock_.now_s();
        workload.run(calls, hot);
        return clock_.now_s() - start_s;
    }

  private:
    Clock& clock_;
};

}  // namespace joulecast
