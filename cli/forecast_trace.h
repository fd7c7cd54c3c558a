#pragma once

#include <string>

#include "joulecast/forecast/forecast_network.h"
#include "joulecast/graph/graph.h"
#include "joulecast/report/chrome_trace.h"

namespace joulecast::cli {

/// A forecast's timeline with what its trace tells beside.
struct TracedForecast {
    NetworkTimeline timeline;
    Graph graph;  ///< at the precision that was forecast: its nodes are those of the calls
    std::string device_name;
    double idle_w = 0;                      ///< NaN where no power is known
    bool computes_where_it_issues = false;  ///< a CPU: one track
};

/// Calls on the host's track and the device's, an arrow from each issue to its work, and the power that they draw.
/// Throws Error for more calls than a viewer takes.
ChromeTrace trace_of(const TracedForecast& traced);

}  // namespace joulecast::cli
