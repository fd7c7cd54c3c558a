#pragma once

#include <limits>
#include <span>

#include "joulecast/predict/model.h"
#include "joulecast/predict/predictor.h"

namespace joulecast {

/// What the calls of a network add up to before host and device overlap.
struct NetworkParts {
    double host_s = 0;        ///< issuing: each call's floor; zero on a CPU, which computes where it issues
    double device_s = 0;      ///< what the calls take beyond their floors
    double dynamic_j = 0;     ///< above idle power; NaN where the power of a call is not known
    double sigma_time = 0;    ///< relative standard deviation that the operations' own intervals stand for
    double sigma_energy = 0;  ///< of dynamic_j
    double sigma_power = 0;   ///< of dynamic_j over the time: the errors of power alone
};

/// Calls of one operation share one error, which adds linearly; different operations err independently.
NetworkParts parts_of(std::span<const OperationForecast> operations);

/// T = ((host_factor sum host)^8 + (factor sum device)^8)^(1/8): the host issues ahead while the device works, so the
/// slower of the two decides. On a CPU the host's sum is zero and T is the factor times the sum.
double composed_seconds(const NetworkParts& parts, const NetworkCorrection& correction);

/// Whole energy of a run of `seconds`: idle power all along, and above it what the calls add, but never more than the
/// device may draw. NaN where no power is known.
double composed_joules(const NetworkParts& parts, const NetworkCorrection& correction, const PowerFacts& power,
                       double seconds);

/// exp(normal 90 % quantile * sigma): what a value is multiplied with and divided by for its 90 % interval.
double spread_90(double sigma);
/// The other way round: the standard deviation of log(value) that a 90 % interval stands for.
template <class Unit>
double log_sigma(const Estimate<Unit>& estimate);

}  // namespace joulecast
