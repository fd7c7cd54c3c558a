#pragma once

#include <limits>
#include <vector>

#include "joulecast/physics/clock_curve.h"

namespace joulecast {

/// How programs on a device draw their power in phases: it works, or it waits, for data that are read or for its host.
/// A power limit holds the working phase alone. That is why the mean of a whole program stays below a limit that slows
/// it down all the same.
struct DutyCycle {
    double working_w = 0;  ///< at the highest clock; of a program whose mean is higher, that mean. 0: it never waits
    double waiting_w = 0;  ///< of a program whose mean is lower, that mean: it never works
    double share_of_limit = 1;  ///< that the control loop of a limit lets the working phase draw
    /// Exponent by which working and waiting add up: 1 one after the other, higher where what is waited for goes on
    /// while the device works.
    double overlap = 1;
    friend bool operator==(const DutyCycle&, const DutyCycle&) = default;
};

/// What tells a program's time and power under other power limits from those under one.
struct LimitParameters {
    ClockParameters clocks;
    DutyCycle duty;
    double compute_share = 0.5;  ///< of_compute_share() where a program's kernels are not known
    /// Standard deviations of log(forecast / measured) at limit_distance() 1. At first 0.15, of all three: about that
    /// of two devices' programs forecast by the parameters of the other (V100, P100; Zeus).
    ClockSpread spread{0.15, 0.15, 0.15};
    friend bool operator==(const LimitParameters&, const LimitParameters&) = default;
};

/// Works at 0.85 of TDP and waits at 0.28, keeping 0.99 of the limit, overlapped by an exponent of 2: in the middle of
/// what is fitted to trainings on V100 (0.93, 0.30, 0.96, 2.1) and P100 (0.79, 0.28, 1.00, 1.9), Zeus,
/// docs/clocks-model.md.
LimitParameters default_limit_parameters(const ClockParameters& clocks, const Device& device);

/// A program's means under a power limit.
struct LimitedPoint {
    double limit_w = 0;
    double time_s = 0;
    double power_w = 0;
    /// The clock while it works, over the highest; NaN: not known.
    double working_x = std::numeric_limits<double>::quiet_NaN();
};

/// By which intervals widen: the logarithm of the ratio of the limits, and 0.2 that even equal limits leave.
double limit_distance(double limit_w, const LimitedPoint& from);

/// Time and mean power of one program over power limits, from those under one:
///
///     phi = (P0 - P_wait) / (P_work(L0) - P_wait)          the share of its time that the device works
///     w(L) = phi T_work(L) / T_work(L0)
///     T(L) = T0 (w^q + 1 - phi^q)^(1/q)                    q: the overlap
///     P(L) = [w P_work(L) + (T / T0 - w) P_wait] T0 / T
///
/// P_work and T_work are those of a WorkloadCurve at the highest clock whose power keeps the limit. At the lowest clock
/// and still above it the device stops and goes: the same energy over a longer time.
class LimitCurve {
  public:
    /// `kernels` and `host` as in WorkloadCurve; empty: by the compute share of `parameters`.
    LimitCurve(const LimitParameters& parameters, std::vector<KernelTime> kernels, double host, LimitedPoint known);

    LimitedPoint at(double limit_w) const;
    /// phi, under the known limit.
    double working_share() const { return working_share_; }
    const LimitedPoint& known() const { return known_; }

  private:
    struct Phase {
        double time = 0;  ///< relative to that at the highest clock
        double power_w = 0;
        double x = 1;
    };
    Phase working(double limit_w) const;

    LimitedPoint known_;
    DutyCycle duty_;
    WorkloadCurve curve_;  ///< of the working phase, from the highest clock
    Phase known_phase_;
    double waiting_w_ = 0;
    double working_share_ = 1;
};

}  // namespace joulecast
