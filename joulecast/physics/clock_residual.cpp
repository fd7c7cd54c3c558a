#include "joulecast/physics/clock_residual.h"

#include <cmath>

namespace joulecast {
namespace {

constexpr double bell = 0.03;
constexpr double faultless_workloads = 3;

}  // namespace

ClockMiss miss_at(std::span<const ClockResidual> residuals, double x, double y) {
    ClockMiss sum;
    double workloads = faultless_workloads;
    for (const ClockResidual& one : residuals) {
        const double distance = std::hypot(std::log(x / one.x), std::log(y / one.y)) / bell;
        const double weight = std::exp(-distance * distance / 2);
        sum.time += weight * one.time;
        sum.power += weight * one.power;
        workloads += weight * one.workloads;
    }
    return {sum.time / workloads, sum.power / workloads};
}

}  // namespace joulecast
