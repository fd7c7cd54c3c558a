#pragma once

#include <functional>

#include "workers/pretend/card.h"
#include "workers/pretend/law.h"

namespace joulecast::pretend {

// The laws of power. x: clock over the highest; v(x) = 1 up to the knee k, then 1 + rise (x - k) / (1 - k).
//
//   P = board + memory idle y + leakage v (1 + c (T - 50)) + clocked x0 v^2 (gated + (1 - gated) busy share)
//       + (v^2 switched joules + memory joules) / time
//   T = ambient + rise * P                   solved with P: the temperature of a load that has been on for long
//   limit: the highest clock at which P keeps it, between two that can be set, as a driver that goes to and fro
//
// A network meets its limit by its mean power, waiting for the host included.

/// v of a clock.
double relative_voltage(const Card& card, double sm_clock_mhz);

/// Mean power of a load that takes `span_s` and computes in `effort.busy_s` of it. Watts.
double watts(const Card& card, const Setting& setting, const Effort& effort, double span_s);
/// Nothing runs. Watts.
double idle_watts(const Card& card, const Setting& setting);
double temperature_c(const Card& card, double power_w);

/// Some work at the clock that its power lets it have.
struct Running {
    Setting setting;  ///< with the real clock
    Effort effort;
    double span_s = 0;  ///< of one call, back to back with others
    double power_w = 0;
    double idle_w = 0;
    bool capped = false;
};

/// Seconds of one call back to back with others.
using SpanOf = std::function<double(const Effort&)>;

/// The work at the clock asked for, or the highest below it that keeps `limit_w`; the lowest there is where none does.
Running run_within(const Card& card, const Work& work, const Setting& asked, double limit_w, const SpanOf& span);

}  // namespace joulecast::pretend
