#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "joulecast/worker/protocol.h"

namespace joulecast {

/// Starts a worker command, watches it, and restarts it when it dies, hangs or talks garbage. A lost worker is a
/// result (Outcome::crashed with the reason), not an exception; only a worker that cannot even say hello throws.
class Supervisor {
  public:
    struct Options {
        std::string command;  ///< run by /bin/sh -c, so "ssh board joulecast-torch" works
        std::chrono::milliseconds hello_timeout{60'000};
        std::chrono::milliseconds request_timeout{120'000};  ///< where a request comes without its own
        /// A worker that answered before and does not start now is tried again, each time after a longer wait: a line
        /// to another machine may be down for a moment.
        int restart_attempts = 4;
        std::chrono::milliseconds restart_wait{1'000};
        std::string device = {};  ///< of which hello shall tell; empty: the worker's first
    };
    using Timeout = std::optional<std::chrono::milliseconds>;

    explicit Supervisor(Options options);
    ~Supervisor();
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    /// What the running worker said of itself; starts it if needed. Throws Error with the command, the end of its
    /// standard error and what to do when it cannot be started or speaks another protocol version.
    const protocol::Capabilities& capabilities();

    /// The answer, or a Measurement with outcome crashed if the worker died, hung, wrote garbage or refused.
    Measurement measure(const protocol::Measure& request, Timeout timeout = {});
    NetworkMeasurement measure(const protocol::MeasureGraph& request, Timeout timeout = {});
    /// Nothing from a worker that has nothing to prepare, or that was lost meanwhile.
    std::optional<protocol::Prepared> prepare(const protocol::Prepare& request, Timeout timeout = {});

    /// Throws Error when the worker cannot do that, or was lost over it.
    protocol::TimedRuns time_runs(const protocol::TimeRuns& request, Timeout timeout = {});

    /// The last worker that was lost ended for a reason that is none of its request's: the line to its machine (255, as
    /// ssh ends then) or that machine (75, EX_TEMPFAIL: as a worker ends whose disk is full).
    bool lost_without_blame() const;

    /// How often the worker had to be started again.
    int restarts() const;

  private:
    class Process;
    std::unique_ptr<Process> process_;
};

}  // namespace joulecast
