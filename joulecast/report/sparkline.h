#pragma once

#include <span>
#include <string>

namespace joulecast {

/// Values as a row of blocks of eight heights, from their least to their greatest, one column each: "█▅▃▁▁▂▄". More
/// than `width` values are thinned out, each column the mean of its part; NaN is a blank. Levels where all are alike
/// are the lowest block.
std::string sparkline(std::span<const double> values, std::size_t width = 60);

}  // namespace joulecast
