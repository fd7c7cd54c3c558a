#pragma once

#include <functional>
#include <optional>
#include <string>

#include "joulecast/worker/protocol.h"

namespace joulecast::protocol {

/// What a worker can do; one function per request. A failed trial is an outcome inside the measurement; an Error
/// thrown from here becomes a Failure.
struct Service {
    std::function<Capabilities()> hello;  ///< boot_id is filled in where it is empty
    std::function<Measurement(const Measure&)> measure;
    std::function<NetworkMeasurement(const MeasureGraph&)> measure_graph;
    std::function<Prepared(const Prepare&)> prepare = nullptr;      ///< empty: there is nothing to prepare
    std::function<TimedRuns(const TimeRuns&)> time_runs = nullptr;  ///< empty: it cannot
    /// The same as hello with the facts of another of its devices; empty: there is one only.
    std::function<Capabilities(const std::string& device)> hello_of = nullptr;
};

/// The kernel's id of this boot of this machine; empty where it tells none. Who has the same one runs beside us.
std::string this_boot_id();

/// The answer to one line, or nothing after `quit`. Never throws joulecast::Error: a line that cannot be understood
/// is answered by a Failure with the id it carries, or "" if even that cannot be read.
std::optional<std::string> answer(const Service& service, const std::string& line);

/// Answers line after line until `quit` or the end of `input` (file descriptors, so that a parent's death ends it).
/// Returns the exit status: 0, or 1 when the answer could not be written or a line was longer than max_line_bytes.
int serve(const Service& service, int input, int output);

}  // namespace joulecast::protocol
