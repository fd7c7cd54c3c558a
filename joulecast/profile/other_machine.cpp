#include "joulecast/profile/other_machine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <vector>

#include "joulecast/device/figures.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr double figure_tolerance = 0.1;

/// Unknown on either side counts as the same.
bool within(double a, double b, double tolerance) {
    return std::isnan(a) || std::isnan(b) || std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

std::string in_short(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", number);
    return text;
}

bool same_settings(const OperatingPoint& a, const OperatingPoint& b) {
    return a.math == b.math && a.host == b.host && a.threads == b.threads && a.engine == b.engine;
}

bool same_asked(const OperatingPoint& a, const OperatingPoint& b) {
    const auto same = [](double x, double y) { return (std::isnan(x) && std::isnan(y)) || x == y; };
    return same(a.sm_clock_mhz, b.sm_clock_mhz) && same(a.memory_clock_mhz, b.memory_clock_mhz) &&
           same(a.power_limit_w, b.power_limit_w);
}

}  // namespace

std::string changed_figures(const Device& stored, const Device& now) {
    std::string changed;
    const auto add = [&](std::string_view figure, double before, double after) {
        changed +=
            (changed.empty() ? "" : ", ") + std::string(figure) + " " + in_short(before) + ", now " + in_short(after);
    };
    if (stored.units > 0 && now.units > 0 && stored.units != now.units)
        add("units", static_cast<double>(stored.units), static_cast<double>(now.units));
    for (const Figure& figure : figures()) {
        if (figure.value == &Device::idle_w) continue;
        if (!within(stored.*figure.value, now.*figure.value, figure_tolerance))
            add(figure.name, stored.*figure.value, now.*figure.value);
    }
    return changed;
}

double reference_ratio(std::span<const ReferenceRow> stored, std::span<const OperationRow> measured,
                       const ReferenceRow& now) {
    std::set<std::string> comparable, other;
    for (const OperationRow& row : measured)
        (same_settings(row.measurement.asked, now.asked) ? comparable : other).insert(row.provenance.session);
    std::vector<double> earlier;
    for (const ReferenceRow& row : stored) {
        const std::string& session = row.provenance.session;
        if (session == now.provenance.session || !comparable.contains(session) || other.contains(session)) continue;
        if (row.operation == now.operation && !row.drifted && same_asked(row.asked, now.asked))
            earlier.push_back(row.time_mean_s);
    }
    if (earlier.empty()) return std::numeric_limits<double>::quiet_NaN();
    return now.time_mean_s / median(earlier);
}

}  // namespace joulecast
