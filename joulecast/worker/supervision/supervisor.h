#pragma once

#include <chrono>
#include <memory>
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
        std::chrono::milliseconds request_timeout{120'000};
    };

    explicit Supervisor(Options options);
    ~Supervisor();
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    /// What the running worker said of itself; starts it if needed. Throws Error with the command, the end of its
    /// standard error and what to do when it cannot be started or speaks another protocol version.
    const protocol::Capabilities& capabilities();

    /// The answer, or a Measurement with outcome crashed if the worker died, hung or wrote garbage meanwhile.
    Measurement measure(const protocol::Measure& request);
    NetworkMeasurement measure(const protocol::MeasureGraph& request);

    /// How often the worker had to be started again.
    int restarts() const;

  private:
    class Process;
    std::unique_ptr<Process> process_;
};

}  // namespace joulecast
