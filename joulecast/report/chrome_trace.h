#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/report/table.h"

namespace joulecast {

using TraceDetails = std::vector<std::pair<std::string, Cell>>;

/// Something that takes time, on one of the tracks. Seconds from the beginning.
struct TraceSpan {
    std::size_t track = 0;
    std::string name;
    std::string category;
    double start_s = 0;
    double end_s = 0;
    TraceDetails details;
};

/// An arrow from a span to the start of another.
struct TraceArrow {
    std::size_t from = 0;  ///< into ChromeTrace::spans
    std::size_t to = 0;
};

/// A value that holds from then on.
struct TraceSample {
    double at_s = 0;
    double value = 0;
};

struct TraceCounter {
    std::string name;  ///< "power"
    std::string unit;  ///< "W"
    std::vector<TraceSample> samples;
};

struct ChromeTrace {
    std::string process;
    std::vector<std::string> tracks;  ///< from top to bottom
    std::vector<TraceSpan> spans;
    std::vector<TraceArrow> arrows;
    std::vector<TraceCounter> counters;
    TraceDetails about;
};

/// The Trace Event Format that ui.perfetto.dev and chrome://tracing open: one JSON object with "traceEvents",
/// complete events ("X") in the order of the spans, counters ("C"), arrows ("s", "f") and names of tracks ("M"); "ts"
/// and "dur" in microseconds, cut to nanoseconds. Names may hold anything: they are escaped, and what is no UTF-8
/// becomes U+FFFD.
std::string to_chrome_json(const ChromeTrace& trace);

}  // namespace joulecast
