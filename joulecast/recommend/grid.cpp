#include "joulecast/recommend/grid.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "joulecast/recommend/candidate.h"

namespace joulecast {
namespace {

double nearest_clock(std::span<const double> table, double clock) {
    if (clock < table.front() || clock > table.back()) return clock;
    return *std::ranges::min_element(table, {}, [&](double mhz) { return std::abs(mhz - clock); });
}

/// Ascending, each once; the device's own (NaN) where none is asked for.
std::vector<double> clocks_on(std::span<const double> table, const Grid& grid) {
    if (table.empty() || (!grid.all_clocks && grid.clocks_mhz.empty())) {
        return {table.empty() ? Candidate::unknown : table.back()};
    }
    if (grid.all_clocks) return {table.begin(), table.end()};
    std::set<double> clocks;
    for (const double clock : grid.clocks_mhz) clocks.insert(nearest_clock(table, clock));
    return {clocks.begin(), clocks.end()};
}

OperatingPoint point_at(double clock_mhz, double limit_w) {
    OperatingPoint point;
    point.sm_clock_mhz = clock_mhz;
    point.power_limit_w = limit_w;
    return point;
}

}  // namespace

std::vector<OperatingPoint> grid_points(std::span<const double> table_mhz, const Grid& grid) {
    const double highest = table_mhz.empty() ? Candidate::unknown : table_mhz.back();
    std::vector<double> limits{Candidate::unknown};
    if (!grid.power_limits_w.empty()) limits = grid.power_limits_w;
    std::vector<OperatingPoint> points{point_at(highest, Candidate::unknown)};
    for (const double clock : clocks_on(table_mhz, grid)) {
        for (const double limit : limits) {
            const bool is_default = std::isnan(limit) && (std::isnan(clock) || clock == highest);
            if (!is_default) points.push_back(point_at(clock, limit));
        }
    }
    return points;
}

}  // namespace joulecast
