#include "cli/clock_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "joulecast/device/engine.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/sparkline.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t least_clocks = 4;
constexpr std::size_t curve_width = 48;
/// Asked and real clock differ by more than a step of rounding.
constexpr double other_clock_mhz = 1;

std::string mhz(double clock) {
    return std::to_string(std::llround(clock));
}

/// All but the clock.
using CurveKey = std::tuple<std::string, std::string, std::string, std::string, double, double>;

CurveKey key_of(const NetworkForecast& n) {
    const auto number = [](double value) { return std::isnan(value) ? 0 : value; };
    return {with_values(n.model, n.symbols),
            n.device,
            std::string(name(n.mode)) + ", " + n.precision,
            host_text(n.point),
            number(n.asked.memory_clock_mhz),
            number(n.asked.power_limit_w)};
}

std::string change(double now, double before) {
    const double share = now / before - 1;
    return (share < 0 ? "-" : "+") + show(std::abs(share), Show::percent);
}

/// In order of the clock.
std::string curve_text(std::vector<const NetworkForecast*> points) {
    std::ranges::sort(points, {}, [](const NetworkForecast* n) { return n->asked.sm_clock_mhz; });
    const NetworkForecast& highest = *points.back();
    const bool has_energy = highest.energy.known();
    std::vector<double> values;
    for (const NetworkForecast* n : points)
        values.push_back(has_energy ? n->energy.value.value() : n->time.value.value());
    const auto least = static_cast<std::size_t>(std::ranges::min_element(values) - values.begin());
    const NetworkForecast& best = *points[least];
    std::string text = with_values(highest.model, highest.symbols) + " (" + std::string(name(highest.mode)) + ", " +
                       highest.precision + ", host " + host_text(highest.point) + ") on " + highest.device + "\n  " +
                       (has_energy ? "energy " : "time ") + mhz(points.front()->asked.sm_clock_mhz) + " " +
                       sparkline(values, curve_width) + " " + mhz(highest.asked.sm_clock_mhz) + " MHz\n  least " +
                       show(values[least], has_energy ? Show::joules : Show::seconds) + " at " +
                       mhz(best.asked.sm_clock_mhz) + " MHz";
    if (&best != &highest)
        text += " (" + change(values[least], values.back()) + (has_energy ? " energy, " : " time, ") +
                change(best.time.value.value(), highest.time.value.value()) + " time against " +
                mhz(highest.asked.sm_clock_mhz) + " MHz)";
    return text + "\n";
}

}  // namespace

bool has_clocks(const std::vector<Forecast>& forecasts) {
    return std::ranges::any_of(forecasts, [](const Forecast& f) {
        return f.network.asked.sm_clock_mhz > 0 || f.network.asked.power_limit_w > 0 ||
               f.network.asked.memory_clock_mhz > 0;
    });
}

std::string clock_text(const NetworkForecast& network) {
    const double asked = network.asked.sm_clock_mhz;
    const double real = network.point.sm_clock_mhz;
    std::string text;
    if (asked > 0 && !(std::abs(asked - real) > other_clock_mhz)) {
        text = mhz(asked) + " MHz";
    } else if (asked > 0) {
        text = mhz(asked) + " asked, runs at " + mhz(real) + " MHz";
    } else if (real > 0) {
        text = mhz(real) + " MHz";
    } else {
        text = "default";
    }
    if (network.asked.memory_clock_mhz > 0) text += ", memory " + mhz(network.asked.memory_clock_mhz);
    if (network.asked.power_limit_w > 0) text += " at " + mhz(network.asked.power_limit_w) + " W";
    return text;
}

std::string clock_curves_text(const std::vector<Forecast>& forecasts) {
    std::map<CurveKey, std::vector<const NetworkForecast*>> curves;
    std::vector<CurveKey> order;
    for (const Forecast& f : forecasts) {
        if (!(f.network.asked.sm_clock_mhz > 0)) continue;
        auto& curve = curves[key_of(f.network)];
        if (curve.empty()) order.push_back(key_of(f.network));
        curve.push_back(&f.network);
    }
    std::string text;
    for (const CurveKey& key : order) {
        if (curves[key].size() >= least_clocks) text += curve_text(curves[key]);
    }
    return text;
}

std::string clock_notes_text(const std::vector<Forecast>& forecasts) {
    std::set<std::string> said;
    std::string text;
    for (const Forecast& f : forecasts) {
        const bool is_asked = f.network.asked.sm_clock_mhz > 0 || f.network.asked.power_limit_w > 0 ||
                              f.network.asked.memory_clock_mhz > 0;
        if (!is_asked || !said.insert(f.network.device).second) continue;
        if (f.relative_to_default && f.relative_to_default->point.sm_clock_mhz > 0)
            text += "default of " + f.network.device + ": its clock if nobody sets one, " +
                    mhz(f.relative_to_default->point.sm_clock_mhz) + " MHz (brackets: 90 % of the ratio)\n";
        text +=
            "clocks of " + f.network.device + ": " +
            (f.clock_workloads > 0 ? "curve fitted to " + std::to_string(f.clock_workloads) + " workloads"
                                   : "its architecture's curve, since one clock at most was measured; wide intervals") +
            "\n";
    }
    return text;
}

}  // namespace joulecast::cli
