#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "joulecast/meter/time_source.h"
#include "joulecast/process/child_process.h"

namespace joulecast {

/// A program that prints a line for each reading, read as far as it has come. It runs as long as this object, and is
/// not started again when it ends: a gap in its numbers is told, not bridged.
class LineStream {
  public:
    /// `name` is the program's in messages. Without a line for `longest_silence_s` it counts as lost.
    LineStream(const std::string& command, std::string name, double longest_silence_s, TimeSource now_s);

    /// The next line, or nothing when none comes in that time. Throws MeterLost when the program ended, with its last
    /// words, when it has been silent for too long, or when it writes what is no line.
    std::optional<std::string> next(std::chrono::milliseconds wait = std::chrono::milliseconds(0));

  private:
    [[noreturn]] void lose(const std::string& what);

    ChildProcess child_;
    std::string name_;
    double longest_silence_s_;
    TimeSource now_s_;
    double last_line_s_;
};

}  // namespace joulecast
