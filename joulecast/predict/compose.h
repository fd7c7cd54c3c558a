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
    double calls = 0;         ///< that a host issues: all but shape arithmetic
    double kernels = 0;       ///< of these, those that compute: all but views

    // What another host adds than the one that the operations were measured with (hosts.h). No correction scales it.
    double added_host_s = 0;
    double added_device_s = 0;
    double added_j = 0;      ///< above idle power
    double sigma_added = 0;  ///< standard deviation of the logarithm of what is added
};

/// Calls of one operation share one error, which adds linearly; different operations err independently.
NetworkParts parts_of(std::span<const OperationForecast> operations);

/// The host's timeline, host_factor * host_s + added_host_s, and the device's, factor * device_s + added_device_s. What
/// is added may be negative, and then takes nine tenths of the timeline at most.
double host_seconds(const NetworkParts& parts, const NetworkCorrection& correction);
double device_seconds(const NetworkParts& parts, const NetworkCorrection& correction);

/// T = (host^8 + device^8)^(1/8): the host issues ahead while the device works, so the slower of the two decides. On a
/// CPU the host's timeline is empty and T is the device's.
double composed_seconds(const NetworkParts& parts, const NetworkCorrection& correction);

/// d log T / d log(added): how much of an error of what is added, as a share of it, arrives in T.
double share_of_added(const NetworkParts& parts, const NetworkCorrection& correction);

/// Whole energy of a run of `seconds`: idle power all along, and above it what the calls add, but never more than the
/// device may draw. NaN where no power is known.
double composed_joules(const NetworkParts& parts, const NetworkCorrection& correction, const PowerFacts& power,
                       double seconds);

/// Whether that energy is what the device's power limit allows in that time, rather than what the calls would draw.
bool is_at_cap(double joules, const PowerFacts& power, double seconds);

/// exp(normal 90 % quantile * sigma): what a value is multiplied with and divided by for its 90 % interval.
double spread_90(double sigma);
/// The other way round: the standard deviation of log(value) that a 90 % interval stands for.
template <class Unit>
double log_sigma(const Estimate<Unit>& estimate);

}  // namespace joulecast
