#pragma once

#include <span>

namespace joulecast {

/// What the forms of clock_curve.h miss at one place of the clocks, in sums over workloads. x and y as in
/// ClockParameters. Arithmetic follows its clock exactly, so what is missed of time is missed of bytes.
struct ClockResidual {
    double x = 1;
    double y = 1;
    double bytes = 0;         ///< log(measured / told) of what bytes take, by their weights in the time, squared
    double bytes_weight = 0;  ///< sum of these
    double power = 0;         ///< log(measured / told)
    double workloads = 0;
    friend bool operator==(const ClockResidual&, const ClockResidual&) = default;
};

struct ClockMiss {
    double bytes = 0;
    double power = 0;
};

/// Their means around (x, y), by a bell of 0.03 in the logarithm of the clocks, as if three more workloads had missed
/// nothing: a single one tells a quarter of what it missed, and far from what was measured nothing is told.
ClockMiss miss_at(std::span<const ClockResidual> residuals, double x, double y);

}  // namespace joulecast
