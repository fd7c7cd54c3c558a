#include "joulecast/learn/conformal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace joulecast {

double conformal_quantile(std::vector<double> scores, double coverage) {
    if (scores.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::sort(scores.begin(), scores.end());
    const double rank = std::ceil(static_cast<double>(scores.size() + 1) * coverage);
    const auto place = std::min(scores.size(), static_cast<std::size_t>(std::max(1.0, rank)));
    return scores[place - 1];
}

}  // namespace joulecast
