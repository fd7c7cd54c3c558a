#pragma once

#include "joulecast/units/quantity.h"

namespace joulecast {

/// So many times the estimate, whose bounds grow with it. The factor is not negative.
template <class Unit>
constexpr Estimate<Unit> times(const Estimate<Unit>& estimate, double factor) {
    return {estimate.value * factor, estimate.low * factor, estimate.high * factor};
}

/// Adds bounds to bounds: for parts that err alike, so that no error cancels (cautious where they do not).
template <class Unit>
constexpr void add(Estimate<Unit>& sum, const Estimate<Unit>& part, double factor = 1) {
    const Estimate<Unit> scaled = times(part, factor);
    sum.value += scaled.value;
    sum.low += scaled.low;
    sum.high += scaled.high;
}

/// Where a sum begins.
template <class Unit>
inline constexpr Estimate<Unit> nothing{Unit(0), Unit(0), Unit(0)};

}  // namespace joulecast
