#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/recommend/candidate.h"

namespace joulecast::testing {

/// A run of `time_s` and `energy_j` of a single sample, without intervals.
inline Candidate run_of(const std::string& device, double time_s, double energy_j) {
    Candidate c;
    c.asked.device = device;
    c.real.device = device;
    c.time = {Seconds(time_s), Seconds(time_s), Seconds(time_s)};
    c.energy = {Joules(energy_j), Joules(energy_j), Joules(energy_j)};
    const Watts power(energy_j / time_s);
    c.power = {power, power, power};
    c.limited_by = "device";
    return c;
}

/// The same with 90 % intervals of value / (1 + relative) ... value * (1 + relative) for time and energy, whose errors
/// agree where the power's interval is 0.
inline Candidate with_spread(Candidate c, double time, double energy, double power = 0) {
    const auto widen = [](auto& e, double relative) {
        e.low = e.value / (1 + relative);
        e.high = e.value * (1 + relative);
    };
    widen(c.time, time);
    widen(c.energy, energy);
    widen(c.power, power);
    return c;
}

/// A made-up device over its clocks x = f / 1000 MHz, 400 ... 1000 MHz in steps of 20 by default: t = 0.4 + 0.6 / x ms,
/// P = 40 + 20 x + 140 x v^2 W, where the voltage v = 1 up to 700 MHz and 1 + (x - 0.7) above.
inline double made_up_seconds(double mhz) {
    return 1e-3 * (0.4 + 600 / mhz);
}
inline double made_up_watts(double mhz) {
    const double x = mhz / 1000, v = 1 + std::max(0.0, x - 0.7);
    return 40 + 20 * x + 140 * x * v * v;
}

inline std::vector<Candidate> made_up_curve(const std::string& device, double step_mhz = 20, double relative = 0) {
    std::vector<Candidate> all;
    for (double mhz = 1000; mhz >= 400; mhz -= step_mhz) {
        Candidate c = with_spread(run_of(device, made_up_seconds(mhz), made_up_seconds(mhz) * made_up_watts(mhz)),
                                  relative, relative);
        c.asked.sm_clock_mhz = c.real.sm_clock_mhz = mhz;
        c.is_default = mhz == 1000;
        c.lowest_clock_mhz = 600;
        c.reference_clock_mhz = 1000;
        all.push_back(c);
    }
    return all;
}

}  // namespace joulecast::testing
