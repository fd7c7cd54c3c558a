#include "joulecast/model/ratio_spread.h"

#include <cmath>

namespace joulecast {
namespace {

/// Distances over which errors lose most of what they have in common (docs/pretend.md's cards).
constexpr double range_of_time = 0.5;
constexpr double range_of_power = 0.25;

}  // namespace

double ratio_share_of_time(double distance) {
    const double relative = distance / range_of_time;
    return std::sqrt(-std::expm1(-relative * relative));
}

double ratio_share_of_power(double distance) {
    return std::sqrt(-std::expm1(-distance / range_of_power));
}

}  // namespace joulecast
