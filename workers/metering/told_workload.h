#pragma once

#include <cstdint>
#include <iosfwd>

#include "joulecast/measure/workload.h"

namespace joulecast::metering {

/// Calls that the process at the other end of two streams makes: asked for by a line, told by a line when they are
/// done. It tells how long they took, so that the way there and back can be taken off.
class ToldWorkload final : public Workload {
  public:
    /// `multiple`: calls are asked for in multiples of it.
    ToldWorkload(std::istream& in, std::ostream& out, std::int64_t multiple);

    /// Throws Error where the other end is gone or says something else.
    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return 1; }
    std::int64_t run_multiple() const override { return multiple_; }

    /// Seconds for the way there and back, without calls: the shortest of some.
    double round_trip_s();
    /// Time of the calls alone as a share of the time that they were waited for; 1 before any.
    double share_of_calls() const;

  private:
    double ask(std::int64_t calls);

    std::istream& in_;
    std::ostream& out_;
    std::int64_t multiple_;
    double calls_s_ = 0.0;
    double waited_s_ = 0.0;
};

}  // namespace joulecast::metering
