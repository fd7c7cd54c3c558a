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
    for (const ClockResidual& residual : residuals) {
        const double distance = std::hypot(std::log(x / residual.x), std::log(y / residual.y)) / bell;
        const double weight = std::exp(-distance * distance / 2);
        sum.time += weight * residual.time;
        sum.power += weight * residual.power;
        workloads += weight * residual.workloads;
    }
    return {sum.time / workloads, sum.power / workloads};
}

}  // namespace joulecast
