#pragma once

#include <span>

namespace joulecast {

/// What the forms of clock_curve.h miss at one place of the clocks: logarithms of measured over told, summed over
/// workloads. x and y as in ClockParameters.
struct ClockResidual {
    double x = 1;
    double y = 1;
    double time = 0;
    double power = 0;
    double workloads = 0;
    friend bool operator==(const ClockResidual&, const ClockResidual&) = default;
};

struct ClockMiss {
    double time = 0;
    double power = 0;
};

/// Their mean around (x, y), by a bell of 0.03 in the logarithm of the clocks, as if three more workloads had missed
/// nothing: a single one tells a quarter of what it missed, and far from what was measured nothing is told.
ClockMiss miss_at(std::span<const ClockResidual> residuals, double x, double y);

}  // namespace joulecast
