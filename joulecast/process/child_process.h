#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <sys/types.h>

namespace joulecast {

/// A command with pipes to its three standard streams, in a process group of its own (Ctrl-C reaches only us). Ended,
/// with all it started, when this object goes; and by the kernel when we die.
class ChildProcess {
  public:
    using Milliseconds = std::chrono::milliseconds;

    /// Starts `/bin/sh -c command`; no line that it writes may exceed `max_line_bytes`. Throws Error when the system
    /// has no pipe or process left. The kernel ends it with the thread that started it, so start it in one that stays.
    ChildProcess(const std::string& command, std::size_t max_line_bytes);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    enum class Ending { line, closed, timeout, too_long };
    struct Reply {
        Ending ending = Ending::closed;
        std::string line;
    };
    /// Writes the line and a newline, then waits for one line of its standard output. A process that does not read is
    /// a timeout; one that is gone is `closed`, though what it started may still hold its output, and never a signal to
    /// us.
    Reply exchange(const std::string& line, Milliseconds timeout);
    /// The next line of its standard output, for a process that speaks by itself. With a timeout of zero only what has
    /// already come. `closed` comes after the last line; half a line at the end is left out.
    Reply next_line(Milliseconds timeout);

    /// Closes its standard input and waits. Exit status (128 + signal if killed by one), or nothing in that time.
    std::optional<int> finish(Milliseconds timeout);
    /// Kills the whole group and says how the process had ended: "exit status 1", "signal 9 (Killed)".
    std::string stop();
    /// The last 4 KB of its standard error.
    std::string error_tail();

  private:
    void drain_errors();
    bool take_line(Reply& reply);
    Reply wait_for_line(const std::string& outgoing, Milliseconds timeout);
    bool wait_for_input(std::chrono::steady_clock::time_point deadline, const std::string& outgoing,
                        std::size_t& written, Reply& reply);
    bool reap(bool block);

    std::size_t max_line_bytes_;
    pid_t id_ = -1;
    int input_ = -1;
    int output_ = -1;
    int errors_ = -1;
    int exit_ = -1;  ///< can be read when the process has ended
    std::string pending_;
    std::string error_tail_;
    std::optional<int> wait_status_;
};

}  // namespace joulecast
