#pragma once

#include <limits>
#include <span>
#include <vector>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/issue_order.h"
#include "joulecast/model/predictor.h"
#include "joulecast/physics/issue_pace.h"
#include "joulecast/physics/timeline.h"

namespace joulecast {

/// A call as the host issues it, before corrections.
struct IssuedStep {
    double host_s = 0;
    double device_s = 0;
    double share_of_added = 0;  ///< of what another host adds; they sum to 1
    bool synchronises = false;
};

/// What the calls of a network add up to before host and device overlap.
struct NetworkParts {
    double host_s = 0;          ///< issuing: each call's floor; zero on a CPU, which computes where it issues
    double device_s = 0;        ///< what the calls take beyond their floors
    double dynamic_j = 0;       ///< above idle power; NaN where the power of a call is not known
    double sigma_time = 0;      ///< relative standard deviation that the operations' own intervals stand for
    double sigma_energy = 0;    ///< of dynamic_j
    double sigma_power = 0;     ///< of dynamic_j over the time: the errors of power alone
    double calls = 0;           ///< that a host issues: all but shape arithmetic
    double untold_kernels = 0;  ///< of these, those that compute for a time that is not known apart from issuing them

    // What another host adds than the one that the operations were measured with (hosts.h). No correction scales it.
    double added_host_s = 0;
    double added_device_s = 0;
    double added_j = 0;      ///< above idle power
    double sigma_added = 0;  ///< standard deviation of the logarithm of what is added

    IssuePace pace;  ///< of the host's whole timeline, where another CPU issues than the one that was measured

    std::vector<IssuedStep> steps;  ///< in order; empty where nobody knows it (a bag of operations)
};

/// Calls of one operation share one error, which adds linearly; different operations err independently.
NetworkParts parts_of(std::span<const OperationForecast> operations);
/// The same with the order: `operations` are one for each kind of the order's.
NetworkParts parts_of(std::span<const OperationForecast> operations, const IssueOrder& order);

/// Both timelines times a factor each.
void scale(NetworkParts& parts, double host_factor, double device_factor);

Composition composition_of(const NetworkParts& parts);

/// The host's timeline, (host_factor * host_s + added_host_s) * pace, and the device's, factor * device_s +
/// added_device_s. What is added may be negative, and then takes nine tenths of the timeline at most.
double host_seconds(const NetworkParts& parts, const NetworkCorrection& correction);
double device_seconds(const NetworkParts& parts, const NetworkCorrection& correction);

/// Where the order of the calls is known (Composition::timeline) the end of the device's timeline, on which a call
/// waits for its issue and for the call before it, and the host for a call that synchronises (physics/timeline.h). Else
/// (Composition::aggregate) T = (host^8 + device^8)^(1/8): the host issues ahead while the device works, so the slower
/// of the two decides. On a CPU, which computes where it issues, the host's timeline is empty and T is the device's,
/// the sum.
double composed_seconds(const NetworkParts& parts, const NetworkCorrection& correction);

/// Every call on both timelines; its total is composed_seconds(). Without an order it is empty.
Timeline composed_timeline(const NetworkParts& parts, const NetworkCorrection& correction);

/// d log T / d log(added): how much of an error of what is added, as a share of it, arrives in T.
double share_of_added(const NetworkParts& parts, const NetworkCorrection& correction);

/// d log T / d log(host's timeline).
double share_of_host(const NetworkParts& parts, const NetworkCorrection& correction);

/// d log T / d log(device's timeline).
double share_of_device(const NetworkParts& parts, const NetworkCorrection& correction);

/// Whole energy of a run of `seconds` if no limit held the device: idle power all along, and above it what the calls
/// add. NaN where no power is known.
double unlimited_joules(const NetworkParts& parts, const NetworkCorrection& correction, const PowerFacts& power,
                        double seconds);

/// The same, but never more than the device may draw.
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
