#pragma once

#include "joulecast/units/quantity.h"

namespace joulecast {

/// A quantity over the same quantity elsewhere.
using Ratio = Quantity<struct RatioTag>;

/// What a network takes at one clock over what it takes at another. Intervals are those of the ratio: narrower than
/// those of either value, since what is missed at both clocks alike cancels.
struct RelativeCost {
    Estimate<Ratio> time;
    Estimate<Ratio> energy;  ///< unknown() where the forecast has none
    Estimate<Ratio> power;
};

}  // namespace joulecast
