#pragma once

#include <vector>

namespace joulecast {

/// The score that a new, exchangeable case stays below with probability `coverage`: the ceil((n+1) coverage)-th
/// smallest of n held-out scores (Vovk; Lei et al. 2018). With too few scores for that rank the largest is taken:
/// then coverage is n/(n+1) at most. NaN for no scores. A whole rank, whose coverage is proven: next_quantile()
/// interpolates between ranks.
double conformal_quantile(std::vector<double> scores, double coverage);

}  // namespace joulecast
