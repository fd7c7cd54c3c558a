#include "joulecast/predict/measured_networks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "joulecast/error.h"

namespace joulecast {
namespace {

bool is_usable(const NetworkMeasurement& m, const OperatingPoint& setting) {
    return (m.outcome == Outcome::ok || m.outcome == Outcome::unstable) && m.time.median_s > 0 &&
           m.real.threads == setting.threads && m.real.math == setting.math && m.real.engine == setting.engine;
}

/// The clock asked for; a network measured as the device was comes before all that were held at a clock.
double asked_clock(const NetworkMeasurement* m) {
    const double clock = m->asked.sm_clock_mhz;
    return std::isnan(clock) ? std::numeric_limits<double>::infinity() : clock;
}

/// Of a network measured at several clocks, the runs at the highest: the others are those of another device, in a way.
std::vector<const NetworkMeasurement*> at_highest_clock(std::vector<const NetworkMeasurement*> repeats) {
    const double highest = asked_clock(*std::ranges::max_element(repeats, {}, asked_clock));
    std::erase_if(repeats, [highest](const NetworkMeasurement* m) { return asked_clock(m) < highest; });
    return repeats;
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
    std::map<std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, Host>,
             std::vector<const NetworkMeasurement*>>
        same;
    for (const NetworkRow& row : rows) {
        const NetworkMeasurement& m = row.measurement;
        if (is_usable(m, setting)) same[{m.model, m.symbols, m.mode, m.precision, m.real.host}].push_back(&m);
    }
    MeasuredNetworks found;
    for (const auto& [key, repeats] : same) {
        const NetworkMeasurement measurement = middle(at_highest_clock(repeats));
        try {
            found.networks.push_back({open(measurement), measurement});
        } catch (const Error& error) {
            found.left_out.emplace_back(measurement.model, error.what());
        }
    }
    return found;
}

}  // namespace joulecast
