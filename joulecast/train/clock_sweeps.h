#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/physics/fit_clocks.h"
#include "joulecast/physics/fit_limits.h"
#include "joulecast/physics/kernel_levels.h"
#include "joulecast/train/measured_networks.h"

namespace joulecast {

/// A workload measured at one point: what was asked for, what ran, and what it took. Repeats are their medians.
struct SweptRow {
    OperatingPoint asked;
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();  ///< real where it was read, else as asked
    double time_s = 0;
    double power_w = std::numeric_limits<double>::quiet_NaN();        ///< NaN: no meter
    double memory_active = std::numeric_limits<double>::quiet_NaN();  ///< NaN: nobody looked
};

/// A network, or anything else that a table of clocks tells of, over the clocks and power limits that it was measured
/// at.
struct ClockSweep {
    NetworkMeasurement network;  ///< the first of its rows: model, symbols, mode, precision, host
    std::string source;          ///< the table, or "own"
    std::vector<SweptRow> rows;
    std::vector<ListedKernel> kernels;  ///< empty where nobody knows what it consists of

    /// "resnet50 batch=8".
    std::string workload() const;
};

/// The row that the others are told from: of the highest memory clock, power limit and clock, in this order; what was
/// not asked for counts as the highest.
std::size_t reference_row(const ClockSweep& sweep);
bool is_same_memory_clock(const SweptRow& a, const SweptRow& b);
/// No row asks for a clock: what differs is the power limit.
bool is_limit_sweep(const ClockSweep& sweep);

/// The usable rows of one device by workload. `open` gives a network's graph; where it throws, the sweep has no list of
/// kernels. `device` may be of later facts than the rows.
std::vector<ClockSweep> clock_sweeps(std::span<const NetworkRow> rows, const Device& device, const OpenMeasured& open);

/// The highest clock that the sheet or the rows tell of: cards are pushed beyond their sheets. The measured idle power
/// and voltage stand in the parameters; where they are at a highest clock below, the last ones hold on.
ClockParameters parameters_for(const Device& device, std::span<const ClockSweep> sweeps,
                               std::span<const IdlePoint> idle);

/// Rows of known clock as points; the kernels at those levels. Rows of a power limit alone have no clock and are left
/// out.
SweptWorkload swept_workload(const ClockSweep& sweep, const ClockParameters& parameters, const KernelLevels& levels,
                             int units);

/// The power limit that a row was measured under: the device's TDP where none was asked for. Watts.
double limit_w(const SweptRow& row, const Device& device);

/// Rows of a sweep over power limits, those without one under the device's TDP; rows without power are left out.
/// Programs of one model are a group. What joulecast measured itself ran without a pause: it never waits.
SweptLimits swept_limits(const ClockSweep& sweep, const KernelLevels& levels, const Device& device);

/// x and y of a clock; 1 where it is not told.
double relative_sm_clock(double sm_clock_mhz, const ClockParameters& parameters);
double relative_memory_clock(double memory_clock_mhz, const ClockParameters& parameters);

/// At the reference row. The memory's activity as it was seen, else by the sweep's list of kernels, which take
/// `kernels`.
WorkloadTraits traits_of(const ClockSweep& sweep, std::span<const KernelTime> kernels);

/// What tells of a workload without a list of kernels what it may consist of, at its reference point. NaN: not known.
struct WorkloadSigns {
    double power_w = std::numeric_limits<double>::quiet_NaN();
    double memory_active = std::numeric_limits<double>::quiet_NaN();  ///< bytes moved over what could be, 0 to 1
};
WorkloadSigns signs_of(const ClockSweep& sweep);

/// A workload of which the compute share was fitted.
struct KnownShare {
    WorkloadSigns signs;
    double share = 0;
};

/// What workloads over clocks tell of a device, and of others on it.
struct ClockLesson {
    ClockParameters parameters;
    std::vector<KnownShare> shares;  ///< what unknown workloads may consist of
};

/// Knee, slope, residuals, trees and spread from sweeps with two clocks or more; `start` without any. A workload of
/// which nobody lists the kernels counts with those that the others make likely, as one that is forecast would.
ClockLesson learn_sweeps(const ClockParameters& start, std::span<const ClockSweep* const> sweeps,
                         const KernelLevels& levels, int units);

/// learn_sweeps() from all sweeps of a device; without clocks, knee and slope fitted to its sweeps over power limits;
/// absent without any.
std::optional<ClockParameters> calibrated_clocks(const Device& device, std::span<const ClockSweep> sweeps,
                                                 std::span<const IdlePoint> idle);

/// What a workload may consist of. Where the activity of its memory is known: one kernel whose bytes take as much of
/// the time as that is of the activity of a kernel that does nothing but move bytes; which that is, follows from
/// workloads of known shares, 0.85 without any. Else, by likeness of power: a kernel of each known share, each taking
/// as much of the time as that share is likely; its curve is the mean of theirs, which is what a choice among clocks
/// has to weigh. One of share 0.5 without any.
std::vector<KernelTime> likely_kernels(const WorkloadSigns& signs, std::span<const KnownShare> known);

}  // namespace joulecast
