#include "joulecast/physics/nelder_mead.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace joulecast {
namespace {

TEST(NelderMead, FindsTheBottomOfRosenbrocksValley) {
    const auto rosenbrock = [](std::span<const double> x) {
        return std::pow(1 - x[0], 2) + 100 * std::pow(x[1] - x[0] * x[0], 2);
    };
    const auto found = nelder_mead(rosenbrock, {-1.2, 1}, 0.5, 1000);
    EXPECT_NEAR(found[0], 1, 1e-3);  // its only minimum is at (1, 1)
    EXPECT_NEAR(found[1], 1, 1e-3);
}

TEST(NelderMead, StepsBackFromValuesThatAreNotNumbers) {
    const auto half_plane = [](std::span<const double> x) {
        return x[0] < 0 ? std::numeric_limits<double>::quiet_NaN() : std::abs(x[0] - 0.1);
    };
    EXPECT_NEAR(nelder_mead(half_plane, {2}, -1, 300)[0], 0.1, 1e-6);
}

TEST(NelderMead, KeepsWithinItsEvaluations) {
    int calls = 0;
    nelder_mead([&](std::span<const double> x) { return ++calls, x[0] * x[0]; }, {100}, 1, 20);
    EXPECT_LE(calls, 20 + 3);  // the last step may need a few
}

}  // namespace
}  // namespace joulecast
