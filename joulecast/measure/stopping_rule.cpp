#include "joulecast/measure/stopping_rule.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "joulecast/units/statistics.h"

namespace joulecast {

std::size_t leading_transient(std::span<const double> block_s) {
    const std::size_t half = block_s.size() / 2;
    if (half == 0) return 0;
    const auto tail = block_s.subspan(block_s.size() - half);
    const double centre = median(tail);
    std::vector<double> deviations;
    deviations.reserve(half);
    for (const double block : tail) deviations.push_back(std::abs(block - centre));
    const double spread = median(deviations);
    std::size_t dropped = 0;
    while (dropped < half && std::abs(block_s[dropped] - centre) > 2.0 * spread) ++dropped;
    return dropped;
}

TimeSummary summarise(std::span<const double> block_s) {
    TimeSummary summary;
    const std::size_t dropped = leading_transient(block_s);
    const auto kept = block_s.subspan(dropped);
    summary.dropped_blocks = static_cast<std::int64_t>(dropped);
    summary.blocks = static_cast<std::int64_t>(kept.size());
    if (kept.empty()) return summary;
    summary.mean_s = mean(kept);
    summary.median_s = median(kept);
    summary.p05_s = quantile(kept, 0.05);
    summary.p95_s = quantile(kept, 0.95);
    if (kept.size() < 2) return summary;
    // At least two, or a strongly correlated series would leave no degree of freedom to judge it by.
    const double effective = std::max(2.0, effective_samples(kept));
    summary.effective_blocks = effective;
    summary.half_width_s = student_t_quantile(0.975, effective - 1.0) * standard_deviation(kept) / std::sqrt(effective);
    return summary;
}

std::int64_t first_test(double call_s) {
    if (call_s > 0.1) return 5;
    if (call_s > 0.01) return 10;
    return 50;
}

std::int64_t next_test(std::int64_t blocks) {
    return (3 * blocks + 1) / 2;
}

bool settled(const TimeSummary& summary, double relative_half_width) {
    return summary.half_width_s <= relative_half_width * summary.mean_s;
}

}  // namespace joulecast
