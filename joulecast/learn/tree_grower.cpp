#include "joulecast/learn/tree_grower.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace joulecast {
namespace {

constexpr float equal_within = 1e-7F;  // scikit-learn's FEATURE_THRESHOLD
/// Smaller nodes of binned columns are sorted by value and split exactly: sorting is cheaper there than 256 bins.
constexpr std::size_t fewest_rows_for_bins = 256;

/// The largest float32 not above the middle of a < b: it decides every float32 value as the exact middle does.
float between(float a, float b) {
    const double middle = static_cast<double>(a) / 2 + static_cast<double>(b) / 2;
    if (!std::isfinite(middle)) return a;
    auto rounded = static_cast<float>(middle);
    if (static_cast<double>(rounded) > middle)
        rounded = std::nextafter(rounded, -std::numeric_limits<float>::infinity());
    return rounded < b ? rounded : a;
}

/// Written so that two infinities (missing values) count as equal.
bool differ(float low, float high) {
    return high > low + equal_within;
}

/// The best cut of a column seen so far. Its score, sum_left^2 / n_left + sum_right^2 / n_right, is kept as a fraction:
/// scores are compared without a division, which would take most of the time.
class BestCut {
  public:
    BestCut(double total, std::size_t count, std::size_t min_leaf)
        : total_(total), count_(static_cast<double>(count)), min_leaf_(static_cast<double>(min_leaf)) {}

    /// True if the cut with this many rows and this sum on its left is better than all before.
    bool improve(double left_sum, double left) {
        const double right = count_ - left;
        if (left < min_leaf_ || right < min_leaf_) return false;
        const double right_sum = total_ - left_sum;
        const double over = left_sum * left_sum * right + right_sum * right_sum * left;
        const double under = left * right;
        if (!(over * under_ > over_ * under)) return false;
        over_ = over;
        under_ = under;
        return true;
    }
    bool found() const { return over_ >= 0; }
    double score() const { return over_ / under_; }

  private:
    double total_;
    double count_;
    double min_leaf_;
    double over_ = -1;
    double under_ = 1;
};

}  // namespace

SplitColumns split_columns(const Samples& samples, const TreeSettings& settings) {
    SplitColumns shared;
    if (settings.random_thresholds) return shared;
    if (samples.rows() > settings.exact_rows) {
        shared.bins.emplace(samples);
    } else {
        shared.order.emplace(samples);
    }
    return shared;
}

TreeGrower::TreeGrower(const Samples& samples, const SplitColumns& shared, std::span<const double> targets,
                       const TreeSettings& settings, Random& random)
    : samples_(samples),
      shared_(shared),
      targets_(targets),
      settings_(settings),
      random_(random),
      columns_(samples.columns()),
      is_live_(samples.columns()),
      goes_left_(samples.rows()) {
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
}

std::vector<ForestNode> TreeGrower::grow(std::vector<std::uint32_t> rows) {
    rows_ = std::move(rows);
    scratch_.resize(rows_.size());
    node_targets_.resize(rows_.size());
    if (settings_.random_thresholds) node_values_.resize(rows_.size() * lanes);
    if (shared_.order) presorted_.emplace(*shared_.order, columns_.size(), rows_, samples_.rows());
    live_.clear();
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        if (!shared_.order || !shared_.order->column(column).empty()) live_.push_back(column);
    }
    std::vector<ForestNode> nodes;
    std::vector<Open> open{{{0, rows_.size()}, 0, -1, 0, live_.size()}};
    while (!open.empty()) {
        const Open node = open.back();
        open.pop_back();
        live_.resize(node.live_end);  // what lies behind belonged to subtrees that are done
        const auto index = static_cast<std::int32_t>(nodes.size());
        if (node.parent >= 0) nodes[static_cast<std::size_t>(node.parent)].right = index;
        const Summary targets = summary(node.rows);
        const bool splits = !targets.pure && may_split(node.rows.size(), node.depth);
        const auto split = splits ? choose_split(node, targets.sum) : std::nullopt;
        if (!split) {
            nodes.push_back({-1, static_cast<float>(targets.mean), 0});
            continue;
        }
        nodes.push_back({static_cast<std::int32_t>(split->column), split->threshold, 0});
        divide(node, *split, index, open);
    }
    return nodes;
}

TreeGrower::Summary TreeGrower::summary(NodeRows node) {
    Summary result;
    const double first = targets_[rows_[node.begin]];
    for (std::size_t i = node.begin; i < node.end; ++i) {
        const double y = targets_[rows_[i]];
        node_targets_[i - node.begin] = y;
        result.sum += y;
        result.pure = result.pure && y == first;
    }
    result.mean = result.pure ? first : result.sum / static_cast<double>(node.size());
    return result;
}

bool TreeGrower::may_split(std::size_t rows, std::size_t depth) const {
    return rows >= 2 && rows >= 2 * settings_.min_leaf && depth < settings_.max_depth;
}

void TreeGrower::divide(const Open& node, const Split& split, std::int32_t index, std::vector<Open>& open) {
    const auto values = samples_.column(split.column);
    const auto rows = std::span(rows_).subspan(node.rows.begin, node.rows.size());
    for (const std::uint32_t row : rows) goes_left_[row] = values[row] <= split.threshold ? 1 : 0;
    const std::size_t left = joulecast::divide(rows, goes_left_, scratch_);
    const std::size_t cut = node.rows.begin + left;
    // find_split() has marked what it found constant.
    const std::size_t live_begin = live_.size();
    for (std::size_t i = node.live_begin; i < node.live_end; ++i) {
        if (is_live_[live_[i]] != 0) live_.push_back(live_[i]);
    }
    const std::size_t depth = node.depth + 1;
    open.push_back({{cut, node.rows.end}, depth, index, live_begin, live_.size()});
    open.push_back({{node.rows.begin, cut}, depth, -1, live_begin, live_.size()});
    if (!presorted_ || !may_split(std::max(left, rows.size() - left), depth)) return;
    for (std::size_t i = live_begin; i < live_.size(); ++i) presorted_->divide(live_[i], node.rows, goes_left_);
}

std::size_t TreeGrower::mark_live(const Open& node) {
    std::fill(is_live_.begin(), is_live_.end(), std::uint8_t{0});
    for (std::size_t i = node.live_begin; i < node.live_end; ++i) is_live_[live_[i]] = 1;
    const auto share = settings_.features_per_split * static_cast<double>(columns_.size());
    return std::max<std::size_t>(1, static_cast<std::size_t>(share));
}

std::size_t TreeGrower::draw_column(std::size_t tried) {
    std::swap(columns_[tried], columns_[tried + random_.below(columns_.size() - tried)]);
    return columns_[tried];
}

std::optional<TreeGrower::Split> TreeGrower::choose_split(const Open& node, double total) {
    return settings_.random_thresholds ? find_random_split(node, total) : find_split(node, total);
}

std::optional<TreeGrower::Split> TreeGrower::find_split(const Open& node, double total) {
    const std::size_t wanted = mark_live(node);
    std::optional<Split> best;
    for (std::size_t tried = 0; tried < columns_.size() && (tried < wanted || !best); ++tried) {
        const std::size_t column = draw_column(tried);
        if (is_live_[column] == 0) continue;
        const auto split = try_column(node.rows, column, total);
        if (split && (!best || split->score > best->score)) best = split;
    }
    return best;
}

std::optional<TreeGrower::Split> TreeGrower::try_column(NodeRows node, std::size_t column, double total) {
    if (presorted_) return best_of_presorted(node, column, total);
    if (node.size() < fewest_rows_for_bins) return best_of_sorted(node, column, total);
    return best_of_bins(node, column, total);
}

std::optional<TreeGrower::Split> TreeGrower::best_of_presorted(NodeRows node, std::size_t column, double total) {
    const auto values = samples_.column(column);
    const auto rows = presorted_->rows(column, node);
    if (!differ(values[rows.front()], values[rows.back()])) {
        is_live_[column] = 0;
        return std::nullopt;
    }
    BestCut cut(total, rows.size(), settings_.min_leaf);
    std::size_t best = 0;
    double left_sum = 0;
    float before = values[rows.front()];
    for (std::size_t left = 1; left < rows.size(); ++left) {
        left_sum += targets_[rows[left - 1]];
        const float value = values[rows[left]];
        if (differ(before, value) && cut.improve(left_sum, static_cast<double>(left))) best = left;
        before = value;
    }
    if (!cut.found()) return std::nullopt;
    return Split{column, between(values[rows[best - 1]], values[rows[best]]), cut.score()};
}

std::optional<TreeGrower::Split> TreeGrower::best_of_sorted(NodeRows node, std::size_t column, double total) {
    const auto values = samples_.column(column);
    sorted_.clear();
    for (std::size_t i = 0; i < node.size(); ++i) {
        sorted_.emplace_back(values[rows_[node.begin + i]], node_targets_[i]);
    }
    std::sort(sorted_.begin(), sorted_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (!differ(sorted_.front().first, sorted_.back().first)) {
        is_live_[column] = 0;
        return std::nullopt;
    }
    BestCut cut(total, sorted_.size(), settings_.min_leaf);
    std::size_t best = 0;
    double left_sum = 0;
    for (std::size_t left = 1; left < sorted_.size(); ++left) {
        left_sum += sorted_[left - 1].second;
        if (!differ(sorted_[left - 1].first, sorted_[left].first)) continue;
        if (cut.improve(left_sum, static_cast<double>(left))) best = left;
    }
    if (!cut.found()) return std::nullopt;
    return Split{column, between(sorted_[best - 1].first, sorted_[best].first), cut.score()};
}

std::optional<TreeGrower::Split> TreeGrower::best_of_bins(NodeRows node, std::size_t column, double total) {
    struct Bin {
        double sum = 0;
        double rows = 0;
    };
    const BinnedColumns& columns = *shared_.bins;
    const auto bin_of = columns.column(column);
    std::array<Bin, BinnedColumns::most_bins> bins;
    for (std::size_t i = 0; i < node.size(); ++i) {
        Bin& bin = bins[bin_of[rows_[node.begin + i]]];
        bin.sum += node_targets_[i];
        bin.rows += 1;
    }
    BestCut cut(total, node.size(), settings_.min_leaf);
    std::pair<std::size_t, std::size_t> best;
    double left_sum = 0;
    double left = 0;
    std::size_t before = BinnedColumns::most_bins;  // none yet
    std::size_t filled = 0;
    for (std::size_t bin = 0; bin < columns.bin_count(column); ++bin) {
        if (bins[bin].rows == 0) continue;
        ++filled;
        if (filled > 1 && differ(columns.high(column, before), columns.low(column, bin)) &&
            cut.improve(left_sum, left)) {
            best = {before, bin};
        }
        left_sum += bins[bin].sum;
        left += bins[bin].rows;
        before = bin;
    }
    // Rows of one bin may still differ: smaller nodes look at the values.
    if (filled == 1 && !differ(columns.low(column, before), columns.high(column, before))) is_live_[column] = 0;
    if (!cut.found()) return std::nullopt;
    return Split{column, between(columns.high(column, best.first), columns.low(column, best.second)), cut.score()};
}

std::optional<TreeGrower::Split> TreeGrower::find_random_split(const Open& node, double total) {
    const std::size_t wanted = mark_live(node);
    std::optional<Split> best;
    for (std::size_t tried = 0; tried < columns_.size() && (tried < wanted || !best); ++tried) {
        const std::size_t column = draw_column(tried);
        if (is_live_[column] != 0) draw_threshold(node.rows, column);
        // Once as many as wanted were tried, each may be the last.
        if (drawn_.count == lanes || tried + 1 >= wanted) choose_best(node.rows, total, best);
    }
    return best;
}

void TreeGrower::draw_threshold(NodeRows node, std::size_t column) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float* values = samples_.column(column).data();
    const std::uint32_t* rows = rows_.data() + node.begin;
    float* of_node = node_values_.data() + drawn_.count;
    float low = infinity;
    float high = -infinity;
    for (std::size_t i = 0; i < node.size(); ++i) {
        const float value = values[rows[i]];
        of_node[i * lanes] = value;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    const bool missing = high == infinity;
    if (missing) {
        high = -infinity;
        for (std::size_t i = 0; i < node.size(); ++i) {
            const float value = of_node[i * lanes];
            high = std::max(high, value == infinity ? -infinity : value);
        }
    }
    if (low > high || (!missing && !differ(low, high))) {
        is_live_[column] = 0;
        return;
    }
    auto threshold = static_cast<float>(static_cast<double>(low) +
                                        random_.uniform() * (static_cast<double>(high) - static_cast<double>(low)));
    // At the very top only missing values would be left on the right.
    if (threshold >= high) threshold = missing ? high : low;
    drawn_.columns[drawn_.count] = column;
    drawn_.thresholds[drawn_.count++] = threshold;
}

void TreeGrower::choose_best(NodeRows node, double total, std::optional<Split>& best) {
    if (drawn_.count == 0) return;
    std::array<double, lanes> sums{};
    std::array<std::uint64_t, lanes> counts{};
    const float* values = node_values_.data();
    for (std::size_t i = 0; i < node.size(); ++i, values += lanes) {
        const auto target = std::bit_cast<std::uint64_t>(node_targets_[i]);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            // All ones or none, since compilers make a branch of a choice, and one in two would be guessed wrongly.
            const std::uint64_t is_left = -static_cast<std::uint64_t>(values[lane] <= drawn_.thresholds[lane]);
            sums[lane] += std::bit_cast<double>(target & is_left);
            counts[lane] -= is_left;
        }
    }
    const auto least = static_cast<double>(settings_.min_leaf);
    const auto count = static_cast<double>(node.size());
    for (std::size_t lane = 0; lane < drawn_.count; ++lane) {
        const auto left = static_cast<double>(counts[lane]);
        const double right = count - left;
        if (left < least || right < least) continue;
        const double right_sum = total - sums[lane];
        const double score = sums[lane] * sums[lane] / left + right_sum * right_sum / right;
        if (!best || score > best->score) best = Split{drawn_.columns[lane], drawn_.thresholds[lane], score};
    }
    drawn_.count = 0;
}

}  // namespace joulecast
