#pragma once

#include <span>
#include <vector>

#include "joulecast/physics/clock_curve.h"

namespace joulecast {

/// A workload measured at several clocks of one device.
struct SweptWorkload {
    std::vector<KernelTime> kernels;  ///< in units of each other; empty: nothing is known of what it consists of
    double host = 0;                  ///< in the same units
    std::vector<ClockedPoint> points;
    WorkloadTraits traits;  ///< at its reference point
};

/// Whether a point of a workload was timed and is not the workload's reference point.
inline bool is_other(const ClockedPoint& point, const ClockedPoint& reference) {
    return &point != &reference && point.time_s > 0;
}

/// Whether the voltage itself was read at some clock: then no knee and slope are fitted.
bool has_measured_voltage(const ClockParameters& parameters);

/// The point that the others are told from: of the highest clock, at the highest memory clock. Throws Error for none.
const ClockedPoint& reference_point(std::span<const ClockedPoint> points);

/// The compute share (of_compute_share) that the measured times tell, between 0 and 1.
double fitted_compute_share(const ClockParameters& parameters, std::span<const ClockedPoint> points);

/// Knee and slope of the voltage, where not measured itself, so that the power of each workload at its other clocks
/// follows from that at its reference point and the measured times; the knee of the bandwidth likewise from the times;
/// and what the memory's clock draws, where it was varied. Nelder-Mead on the mean |log error|, every workload counting
/// as one, with a pull to `start` that two workloads outweigh. Static power is pulled hardest: without idle power it is
/// hardly told apart from the rest (power errors rose from 7.5 to 11 % where it was fitted freely). Workloads with less
/// than two points count for nothing.
ClockParameters fit_clock_parameters(const ClockParameters& start, std::span<const SweptWorkload> workloads);

/// Four fits, each from where the one before ended, since each is pulled to where it begins; and of the ways in which
/// the voltage may rise above its knee, along a line or bent upwards, and the shares of dynamic power that are drawn
/// for time, those whose mean |log error| of power is least, or what `start` has unless others are better by a
/// twentieth. Of a device's own workloads: where none was measured at three points nothing tells the forms apart.
ClockParameters fit_clocks_and_form(const ClockParameters& start, std::span<const SweptWorkload> workloads);

/// The workloads, those of unknown kernels as one kernel of the compute share that their times tell. One that has less
/// than two points tells none: it stays as it is.
std::vector<SweptWorkload> with_fitted_kernels(const ClockParameters& parameters,
                                               std::span<const SweptWorkload> workloads);

/// The curve of a workload, whose kernels are known, from its reference point.
WorkloadCurve curve_of(const ClockParameters& parameters, const SweptWorkload& workload);

}  // namespace joulecast
