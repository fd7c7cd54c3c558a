#include "joulecast/train/measured_networks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "joulecast/error.h"

namespace joulecast {
namespace {

bool is_usable(const NetworkMeasurement& m, const OperatingPoint& setting) {
    return is_timed(m.outcome) && m.time.median_s > 0 && m.real.threads == setting.threads &&
           m.real.math == setting.math && m.real.engine == setting.engine;
}

/// What was asked for; where nothing was, what another program had set: the real clock, to 3 %.
using PointKey = std::tuple<double, double, double, long>;

PointKey point_key(const NetworkMeasurement& m) {
    constexpr double same_clock = 0.03;
    const auto known = [](double value) { return value > 0 ? value : 0; };
    const bool is_asked = m.asked.sm_clock_mhz > 0 || m.asked.power_limit_w > 0;
    const double real = is_asked ? 0 : known(m.real.sm_clock_mhz);
    return {known(m.asked.sm_clock_mhz), known(m.asked.memory_clock_mhz), known(m.asked.power_limit_w),
            real > 0 ? std::lround(std::log(real) / same_clock) : 0};
}

NetworkMeasurement middle(std::vector<const NetworkMeasurement*> repeats) {
    std::sort(repeats.begin(), repeats.end(),
              [](const auto* a, const auto* b) { return a->time.median_s < b->time.median_s; });
    const std::size_t count = repeats.size();
    NetworkMeasurement chosen = *repeats[count / 2];
    chosen.time.median_s = (repeats[(count - 1) / 2]->time.median_s + repeats[count / 2]->time.median_s) / 2;
    // The middle one may be one without a meter.
    for (const NetworkMeasurement* repeat : repeats) {
        if (!chosen.energy && repeat->energy) chosen.energy = repeat->energy;
    }
    return chosen;
}

}  // namespace

MeasuredNetworks measured_networks(std::span<const NetworkRow> rows, const OperatingPoint& setting,
                                   const OpenMeasured& open) {
    std::map<std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, Host, PointKey>,
             std::vector<const NetworkMeasurement*>>
        same;
    for (const NetworkRow& row : rows) {
        const NetworkMeasurement& m = row.measurement;
        if (is_usable(m, setting))
            same[{m.model, m.symbols, m.mode, m.precision, m.real.host, point_key(m)}].push_back(&m);
    }
    MeasuredNetworks found;
    for (const auto& [key, repeats] : same) {
        const NetworkMeasurement measurement = middle(repeats);
        try {
            found.networks.push_back({open(measurement), measurement});
        } catch (const Error& error) {
            found.left_out.emplace_back(measurement.model, error.what());
        }
    }
    return found;
}

}  // namespace joulecast
