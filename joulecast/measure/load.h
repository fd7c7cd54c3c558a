#pragma once

#include <cstdint>

#include "joulecast/measure/workload.h"

namespace joulecast {

/// Keeps a workload running, in chunks, while its host looks at a meter in between. A device that works apart from its
/// host never runs dry: its queue is topped up to three chunks.
class Load {
  public:
    /// `call_s`: about what a call takes, to size the chunks. `hot`: one set of tensors instead of rotating ones.
    Load(Workload& workload, Clock& clock, double call_s, bool hot = false);

    /// Runs calls that last about `chunk_s` (at least one), or queues them unless two chunks are still pending.
    void keep_on(double chunk_s);
    void keep_on_for(double seconds, double chunk_s);
    /// Waits until all calls are done. The next keep_on() starts anew.
    void drain();

    /// Since the start; exact after drain().
    std::int64_t calls() const { return calls_; }
    /// Time in which the device ran calls: a device apart from first issue to drain, others within run().
    double busy_s() const { return busy_s_; }

  private:
    void issue(std::int64_t calls);

    Workload& workload_;
    Clock& clock_;
    double call_s_;
    bool hot_;
    bool apart_;
    bool running_ = false;
    double started_s_ = 0.0;
    std::int64_t calls_ = 0;
    double busy_s_ = 0.0;
};

}  // namespace joulecast
