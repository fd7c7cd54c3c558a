#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/physics/limit_curve.h"

namespace joulecast {

/// A program measured under several power limits of one device.
struct SweptLimits {
    std::string group;                ///< programs of one group err alike
    std::vector<KernelTime> kernels;  ///< as in LimitCurve
    double host = 0;
    bool never_waits = false;  ///< the device works all the time, whatever other programs do
    std::vector<LimitedPoint> points;
};

/// The point that the others are told from: of the highest limit. Throws Error for none.
const LimitedPoint& highest_limit(std::span<const LimitedPoint> points);

/// The program's curve from its highest limit.
LimitCurve curve_of(const LimitParameters& parameters, const SweptLimits& workload);

/// What working and waiting draw, how they overlap, what is kept of the limit, knee and slope of the voltage, and the
/// compute share, so that time and power under each lower limit follow from those under the highest. Nelder-Mead on the
/// mean |log error| of time and power and half of that of energy, every program counting as one, with a pull to
/// `start`. The spread is that under which nine tenths of the points lie inside their 90 % intervals when their group
/// is left out; that of `start` for less than two groups. Programs with less than two points count for nothing; without
/// any, `start` comes back.
LimitParameters fit_limit_parameters(const LimitParameters& start, std::span<const SweptLimits> workloads);

}  // namespace joulecast
