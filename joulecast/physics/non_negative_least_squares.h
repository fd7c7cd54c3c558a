#pragma once

#include <span>
#include <vector>

namespace joulecast {

/// Weights x >= 0 that minimise |A x - b|^2. `rows` holds A row by row, `targets` holds b; the number of columns is
/// their quotient. By coordinate descent on the normal equations, which ends when no weight moves by more than 1e-12 of
/// the largest (Franc, Hlavac, Navara 2005); meant for few columns. A column that is zero everywhere gets the weight 0.
/// Throws Error for no rows, sizes that do not fit, and numbers that are not finite.
std::vector<double> non_negative_least_squares(std::span<const double> rows, std::span<const double> targets);

}  // namespace joulecast
