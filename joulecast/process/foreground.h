#pragma once

#include <limits>
#include <string>
#include <vector>

namespace joulecast {

/// What became of a program and of all that it started and waited for.
struct ForegroundRun {
    int status = 0;                                             ///< exit status, 128 + signal if killed by one
    double start_s = std::numeric_limits<double>::quiet_NaN();  ///< steady clock
    double end_s = std::numeric_limits<double>::quiet_NaN();
    double cpu_s = std::numeric_limits<double>::quiet_NaN();           ///< user and system
    double peak_rss_bytes = std::numeric_limits<double>::quiet_NaN();  ///< of the largest single process
};

/// Runs programs in the place of this one: they have its standard streams and its terminal, and while this object lives
/// the signals INT, TERM, HUP, QUIT, USR1 and USR2 sent to us go to the running program. One at a time.
class Foreground {
  public:
    Foreground();
    ~Foreground();
    Foreground(const Foreground&) = delete;
    Foreground& operator=(const Foreground&) = delete;

    /// Waits for its end. Throws Error when it cannot be started.
    ForegroundRun run(const std::vector<std::string>& command);
    /// INT, TERM, HUP or QUIT has come.
    bool interrupted() const;
};

}  // namespace joulecast
