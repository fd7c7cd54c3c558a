#pragma once

#include <span>

#include "joulecast/measure/measurement.h"

namespace joulecast {

// The error budget of docs/method.md. `sigma` is one standard deviation throughout; `sigma_between` the relative spread
// of repeats of a reference operation, NaN or 0 where there are none.

/// sigma_t^2 = (half width / t_q)^2 + (sigma_between t)^2, t_q Student's quantile for the effective blocks.
double time_sigma_s(const TimeSummary& time, double sigma_between);

/// sigma_E^2 = (half width / t_q)^2 + (sigma_between E)^2, t_q that of the ticks. The half width holds the parts of
/// power, time and edges already: (sigma_E / E)^2 = (sigma_P / P)^2 + (sigma_t / t)^2 + (edge / W)^2. Without the gain
/// error, which is systematic.
double energy_sigma_j(const EnergySummary& energy, double sigma_between);

/// Half of the 95 % interval that a sigma from the above stands for.
double half_width_95(double sigma);

/// Calls of one measured operation in a network.
struct Part {
    double calls = 0.0;
    double value = 0.0;  ///< of one call, s or J
    double sigma = 0.0;
};

struct Total {
    double value = 0.0;
    double sigma = 0.0;
};

/// T = sum n_i t_i; sigma_T^2 = sum n_i^2 sigma_i^2 + (systematic T)^2. Identical calls share one measurement and with
/// it one error, which n of them repeat n times: n^2, not n. A part of unknown sigma makes that of the total unknown.
Total sum_of(std::span<const Part> parts, double systematic);

}  // namespace joulecast
