#include "joulecast/learn/tree_grower.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace joulecast {
namespace {

constexpr float equal_within = 1e-7F;  // scikit-learn's FEATURE_THRESHOLD

/// The largest float32 not above the middle of a < b: it decides every float32 value as the exact middle does.
float between(float a, float b) {
    const double middle = static_cast<double>(a) / 2 + static_cast<double>(b) / 2;
    if (!std::isfinite(middle)) return a;
    auto rounded = static_cast<float>(middle);
    if (static_cast<double>(rounded) > middle)
        rounded = std::nextafter(rounded, -std::numeric_limits<float>::infinity());
    return rounded < b ? rounded : a;
}

double score(double left_sum, double left_count, double total, double count) {
    const double right_sum = total - left_sum;
    return left_sum * left_sum / left_count + right_sum * right_sum / (count - left_count);
}

}  // namespace

TreeGrower::TreeGrower(const Samples& samples, std::span<const double> targets, const TreeSettings& settings,
                       Random& random)
    : samples_(samples), targets_(targets), settings_(settings), random_(random), columns_(samples.columns()) {
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
}

std::vector<ForestNode> TreeGrower::grow(std::vector<std::uint32_t> rows) {
    rows_ = std::move(rows);
    std::vector<ForestNode> nodes;
    std::vector<Range> open{{0, rows_.size(), 0, -1}};
    while (!open.empty()) {
        const Range range = open.back();
        open.pop_back();
        const auto index = static_cast<std::int32_t>(nodes.size());
        if (range.parent >= 0) nodes[static_cast<std::size_t>(range.parent)].right = index;
        const auto [mean, pure] = summary(range);
        const bool may_split =
            !pure && range.depth < settings_.max_depth && range.end - range.begin >= 2 * settings_.min_leaf;
        const auto split = may_split ? find_split(range) : std::nullopt;
        if (!split) {
            nodes.push_back({-1, static_cast<float>(mean), 0});
            continue;
        }
        nodes.push_back({static_cast<std::int32_t>(split->column), split->threshold, 0});
        const auto column = samples_.column(split->column);
        const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(range.begin);
        const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(range.end);
        const auto middle =
            std::partition(first, last, [&](std::uint32_t row) { return column[row] <= split->threshold; });
        const auto cut = static_cast<std::size_t>(middle - rows_.begin());
        open.push_back({cut, range.end, range.depth + 1, index});
        open.push_back({range.begin, cut, range.depth + 1, -1});
    }
    return nodes;
}

std::pair<double, bool> TreeGrower::summary(const Range& range) const {
    double sum = 0;
    const double first = targets_[rows_[range.begin]];
    bool pure = true;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const double y = targets_[rows_[i]];
        sum += y;
        pure = pure && y == first;
    }
    return {pure ? first : sum / static_cast<double>(range.end - range.begin), pure};
}

std::optional<TreeGrower::Split> TreeGrower::find_split(const Range& range) {
    const auto share = settings_.features_per_split * static_cast<double>(columns_.size());
    const auto wanted = std::max<std::size_t>(1, static_cast<std::size_t>(share));
    std::optional<Split> best;
    for (std::size_t tried = 0; tried < columns_.size() && (tried < wanted || !best); ++tried) {
        std::swap(columns_[tried], columns_[tried + random_.below(columns_.size() - tried)]);
        const std::size_t column = columns_[tried];
        const auto split =
            settings_.random_thresholds ? random_threshold(range, column) : best_threshold(range, column);
        if (split && (!best || split->score > best->score)) best = split;
    }
    return best;
}

std::optional<TreeGrower::Split> TreeGrower::best_threshold(const Range& range, std::size_t column) {
    const auto values = samples_.column(column);
    sorted_.clear();
    double total = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        sorted_.emplace_back(values[rows_[i]], targets_[rows_[i]]);
        total += sorted_.back().second;
    }
    std::sort(sorted_.begin(), sorted_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t count = sorted_.size();
    std::optional<Split> best;
    double left_sum = 0;
    for (std::size_t left = 1; left < count; ++left) {
        left_sum += sorted_[left - 1].second;
        // Written so that two infinities (missing values) count as equal.
        if (!(sorted_[left].first > sorted_[left - 1].first + equal_within)) continue;
        if (left < settings_.min_leaf || count - left < settings_.min_leaf) continue;
        const double quality = score(left_sum, static_cast<double>(left), total, static_cast<double>(count));
        if (!best || quality > best->score) {
            best = Split{column, between(sorted_[left - 1].first, sorted_[left].first), quality};
        }
    }
    return best;
}

std::optional<TreeGrower::Split> TreeGrower::random_threshold(const Range& range, std::size_t column) {
    const auto values = samples_.column(column);
    float low = std::numeric_limits<float>::infinity();
    float high = -std::numeric_limits<float>::infinity();
    bool missing = false;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const float value = values[rows_[i]];
        if (std::isinf(value) && value > 0) {
            missing = true;
            continue;
        }
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (low > high || (!missing && !(high > low + equal_within))) return std::nullopt;
    auto threshold = static_cast<float>(static_cast<double>(low) +
                                        random_.uniform() * (static_cast<double>(high) - static_cast<double>(low)));
    // At the very top only missing values would be left on the right.
    if (threshold >= high) threshold = missing ? high : low;
    double left_sum = 0;
    double total = 0;
    std::size_t left = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const double y = targets_[rows_[i]];
        total += y;
        if (values[rows_[i]] <= threshold) {
            left_sum += y;
            ++left;
        }
    }
    const std::size_t count = range.end - range.begin;
    if (left < settings_.min_leaf || count - left < settings_.min_leaf) return std::nullopt;
    return Split{column, threshold, score(left_sum, static_cast<double>(left), total, static_cast<double>(count))};
}

}  // namespace joulecast
