#pragma once

#include <functional>
#include <span>
#include <vector>

namespace joulecast {

/// Minimises a function of a few variables without derivatives (Nelder and Mead 1965), from a simplex with one corner
/// at `start` and edges of `step`. Ends when the corners' values differ by less than 1e-9 or after `evaluations`.
/// Values that are not finite count as worse than all others.
std::vector<double> nelder_mead(const std::function<double(std::span<const double>)>& value, std::vector<double> start,
                                double step, int evaluations);

}  // namespace joulecast
