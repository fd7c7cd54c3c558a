#pragma once

namespace joulecast {

/// Half of the 90 and of the 95 % interval of a normal distribution, in standard deviations: its quantiles at 0.95 and
/// 0.975.
inline constexpr double normal_90 = 1.645;
inline constexpr double normal_95 = 1.959964;

}  // namespace joulecast
