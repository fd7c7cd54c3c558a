#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <sys/types.h>

namespace joulecast {

/// A command with pipes to its three standard streams, in a process group of its own (Ctrl-C reaches only us). Ended,
/// with all it started, when this object goes; and by the kernel when we die.
class ChildProcess {
  public:
    using Milliseconds = std::chrono::milliseconds;

    /// Starts `/bin/sh -c command`. Throws Error when the system has no pipe or process left.
    explicit ChildProcess(const std::string& command);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    enum class Ending { line, closed, timeout, too_long };
    struct Reply {
        Ending ending = Ending::closed;
        std::string line;
    };
    /// Writes the line and a newline, then waits for one line of its standard output. A process that does not read is
    /// a timeout; one that is gone is `closed`, never a signal to us. No line may exceed protocol::max_line_bytes.
    Reply exchange(const std::string& line, Milliseconds timeout);

    /// Closes its standard input and waits. Exit status (128 + signal if killed by one), or nothing in that time.
    std::optional<int> finish(Milliseconds timeout);
    /// Kills the whole group and says how the process had ended: "exit status 1", "signal 9 (Killed)".
    std::string stop();
    /// The last 4 KB of its standard error.
    std::string error_tail();

  private:
    void drain_errors();
    bool take_line(Reply& reply);
    bool wait_for_input(std::chrono::steady_clock::time_point deadline, const std::string& outgoing,
                        std::size_t& written, Reply& reply);
    bool reap(bool block);

    pid_t id_ = -1;
    int input_ = -1;
    int output_ = -1;
    int errors_ = -1;
    std::string pending_;
    std::string error_tail_;
    std::optional<int> wait_status_;
};

}  // namespace joulecast
