#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "joulecast/graph/record.h"
#include "joulecast/report/chapters.h"

namespace joulecast {

/// Kinds of work that a figure tells apart, each in one colour on every page.
struct WorkKind {
    const char* name = "";
    std::size_t colour = 1;  ///< place in palette_colours, counted from 1
};

WorkKind work_kind(Family family);

/// A call of the graph with its share of the forecast, before host and device overlap.
struct CallShare {
    std::string op;      ///< "conv2d"
    std::string module;  ///< dotted path; empty: not known
    std::string source;  ///< "file.py:12"; empty: not known
    Family family = Family::other;
    double time_s = 0;    ///< of all `count` calls
    double energy_j = 0;  ///< NaN where nobody can tell
};

/// The module of calls that are in the forecast and in no node of the graph: sums of gradients, the optimizer's update.
inline constexpr const char* step_module = "(training step)";

/// One for each node of the graph, in its order, then the forecast's other calls. A node whose operation the forecast
/// does not have costs nothing.
std::vector<CallShare> call_shares(const ReportedForecast& forecast);

/// What has one name, together: sorted by time, dearest first.
struct NamedShare {
    std::string name;
    double time_s = 0;
    double energy_j = 0;  ///< NaN where one part is
};

/// By `name_of`; calls with an empty name are left out.
std::vector<NamedShare> shares_by(const std::vector<CallShare>& calls, std::string (*name_of)(const CallShare&));

}  // namespace joulecast
