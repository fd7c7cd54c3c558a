#pragma once

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/relative_cost.h"

namespace joulecast {

/// Correlation of the errors of log time, and of log energy, that a network's forecasts on two devices have.
struct SharedError {
    double time = 0;
    double energy = 0;
};

/// Of two devices that one model over devices forecasts: what the model misses in a network it misses on both. Eight
/// workloads of NeuSight (networks_measured_vs_predicted.csv), each on an A100 and a V100 that were left out in turn,
/// were off by 10 % (root mean square), their ratios by 3 %: a correlation of 0.95, and of 0.71 once ten operations of
/// each device were measured (docs/results/gpus.md). These are two devices of one vendor, and whole families of
/// operations were off in one direction on P100 alone, so less than either is assumed.
inline constexpr double share_of_unseen_devices = 0.5;

/// Of times that the same host decides: the same calls are issued, and next to nothing else differs. Where the hosts
/// are guessed to be of another age (pace_of_age()), they may be one all the same: share_of_unseen_devices.
inline constexpr double share_of_one_host = 0.99;

/// Nothing between a device that was measured and another: its model errs on its own. Of times
/// share_of_one_host where the same host issues on both and is what takes time.
SharedError shared_error(const NetworkForecast& a, bool a_is_unseen, const NetworkForecast& b, bool b_is_unseen);

/// a / b with its 90 % interval where errors are log-normal and so correlated; unknown() where one is not known.
template <class Unit>
Estimate<Ratio> ratio_between(const Estimate<Unit>& a, const Estimate<Unit>& b, double correlation);

}  // namespace joulecast
