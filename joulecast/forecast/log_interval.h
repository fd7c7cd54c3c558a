#pragma once

#include <algorithm>
#include <cmath>

#include "joulecast/units/normal.h"
#include "joulecast/units/quantity.h"

namespace joulecast {

// 90 % intervals as logarithms, in which the errors of times, powers and energies are alike to both sides.

/// Half of the interval of log(value), the mean of both sides; 0 for a value of zero. Where the low end is zero, the
/// upper side counts for both.
template <class Unit>
double log_half_width(const Estimate<Unit>& estimate) {
    const double value = estimate.value.value();
    if (!(value > 0)) return 0;
    const double up = std::log(estimate.high.value() / value);
    const double down = estimate.low.value() > 0 ? std::log(value / estimate.low.value()) : up;
    return std::max(0.0, (up + down) / 2);
}

template <class Unit>
Estimate<Unit> within_log(double value, double half_width) {
    return {Unit(value), Unit(value * std::exp(-half_width)), Unit(value * std::exp(half_width))};
}

/// Another value instead of that of `from`: each side of the interval as wide as it was, and by a deviation of
/// log(value) wider. unknown() for NaN.
template <class Unit>
Estimate<Unit> moved_to(const Estimate<Unit>& from, double value, double sigma) {
    if (std::isnan(value)) return {};
    const auto widened = [&](Unit bound) {
        const double own = std::abs(std::log(bound.value() / from.value.value()));
        return std::hypot(std::isfinite(own) ? own : 0, normal_90 * sigma);
    };
    return {Unit(value), Unit(value * std::exp(-widened(from.low))), Unit(value * std::exp(widened(from.high)))};
}

}  // namespace joulecast
