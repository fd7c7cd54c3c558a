#include "joulecast/measure/soak.h"

#include <cmath>
#include <deque>

#include "joulecast/measure/load.h"

namespace joulecast {

namespace {

struct Look {
    double time_s = 0.0;
    double temperature_c = 0.0;
};

}  // namespace

Soak soak(Workload& workload, DeviceStateProbe& state, Clock& clock, const SoakRule& rule) {
    Soak result;
    result.temperature_c = state.read().temperature_c;
    if (!std::isfinite(result.temperature_c)) return result;
    result.settled = false;
    Load load(workload, clock, rule.call_s);
    const double start_s = clock.now_s();
    std::deque<Look> looks = {{start_s, result.temperature_c}};
    while (!result.settled && clock.now_s() - start_s < rule.longest_s) {
        load.keep_on_for(rule.every_s, rule.every_s / 20.0);
        const double temperature_c = state.read().temperature_c;
        if (!std::isfinite(temperature_c)) break;
        result.temperature_c = temperature_c;
        const double now_s = clock.now_s();
        looks.push_back({now_s, temperature_c});
        // The youngest look that is old enough to compare with stays in front.
        while (looks.size() > 1 && looks[1].time_s <= now_s - rule.over_s) looks.pop_front();
        if (looks.front().time_s <= now_s - rule.over_s) {
            result.settled = temperature_c - looks.front().temperature_c < rule.rise_c;
        }
    }
    load.drain();
    result.soak_s = clock.now_s() - start_s;
    return result;
}

}  // namespace joulecast
