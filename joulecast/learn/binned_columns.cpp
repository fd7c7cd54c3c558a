#include "joulecast/learn/binned_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace joulecast {
namespace {

constexpr std::size_t most_quantile_rows = std::size_t{1} << 18U;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// The largest value of each bin, ascending: 255 at most for finite values, the last infinity for missing ones.
std::vector<float> upper_edges(std::span<const float> values) {
    const std::size_t stride = (values.size() + most_quantile_rows - 1) / most_quantile_rows;
    std::vector<float> sample;
    for (std::size_t i = 0; i < values.size(); i += stride) {
        if (std::isfinite(values[i])) sample.push_back(values[i]);
    }
    std::sort(sample.begin(), sample.end());
    std::vector<float> edges = sample;
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    constexpr std::size_t most_finite = BinnedColumns::most_bins - 1;
    if (edges.size() > most_finite) {
        edges.clear();
        for (std::size_t i = 1; i <= most_finite; ++i) edges.push_back(sample[i * sample.size() / most_finite - 1]);
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    }
    // Rows that were not looked at may lie above all that were.
    if (edges.empty()) edges.push_back(0);
    edges.back() = std::numeric_limits<float>::max();
    edges.push_back(infinity);
    return edges;
}

}  // namespace

BinnedColumns::BinnedColumns(const Samples& samples)
    : rows_(samples.rows()), bins_(samples.rows() * samples.columns()), limits_(samples.columns()) {
    for (std::size_t c = 0; c < samples.columns(); ++c) {
        const auto values = samples.column(c);
        const auto edges = upper_edges(values);
        limits_[c].assign(edges.size(), {infinity, -infinity});
        for (std::size_t row = 0; row < rows_; ++row) {
            const auto bin =
                static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), values[row]) - edges.begin());
            bins_[c * rows_ + row] = static_cast<std::uint8_t>(bin);
            limits_[c][bin].low = std::min(limits_[c][bin].low, values[row]);
            limits_[c][bin].high = std::max(limits_[c][bin].high, values[row]);
        }
    }
}

}  // namespace joulecast
