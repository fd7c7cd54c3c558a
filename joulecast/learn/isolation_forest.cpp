#include "joulecast/learn/isolation_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

struct Cut {
    std::size_t column = 0;
    float threshold = 0;
};

/// Grows one tree over some rows of the samples.
class IsolationTree {
  public:
    IsolationTree(const Samples& samples, std::vector<std::uint32_t> rows, Random& random)
        : samples_(samples), rows_(std::move(rows)), random_(random), columns_(samples.columns()) {
        std::iota(columns_.begin(), columns_.end(), std::size_t{0});
    }

    /// Appends the nodes in preorder.
    void grow(Forest& forest) {
        const auto limit =
            static_cast<std::size_t>(std::ceil(std::log2(static_cast<double>(std::max<std::size_t>(2, rows_.size())))));
        forest.roots.push_back(static_cast<std::int32_t>(forest.nodes.size()));
        std::vector<Open> open{{0, rows_.size(), 0, -1}};
        while (!open.empty()) {
            const Open node = open.back();
            open.pop_back();
            const auto index = static_cast<std::int32_t>(forest.nodes.size());
            if (node.parent >= 0) forest.nodes[static_cast<std::size_t>(node.parent)].right = index;
            const auto cut = node.depth < limit && node.end - node.begin > 1 ? draw(node) : std::nullopt;
            if (!cut) {
                const double length = static_cast<double>(node.depth) + usual_path_length(node.end - node.begin);
                forest.nodes.push_back({-1, static_cast<float>(length), 0});
                continue;
            }
            forest.nodes.push_back({static_cast<std::int32_t>(cut->column), cut->threshold, 0});
            const std::size_t middle = divide(node, *cut);
            open.push_back({middle, node.end, node.depth + 1, index});
            open.push_back({node.begin, middle, node.depth + 1, -1});
        }
    }

  private:
    struct Open {
        std::size_t begin = 0, end = 0;
        std::size_t depth = 0;
        std::int32_t parent = -1;  ///< whose right child this is
    };

    /// A random column that is not constant in the node, and a place uniform within its values; none if all are.
    std::optional<Cut> draw(const Open& node) {
        for (std::size_t left = columns_.size(); left > 0; --left) {
            std::swap(columns_[left - 1], columns_[random_.below(left)]);
            if (const auto threshold = draw_within(node, columns_[left - 1]))
                return Cut{columns_[left - 1], *threshold};
        }
        return std::nullopt;
    }

    std::optional<float> draw_within(const Open& node, std::size_t column) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        const auto values = samples_.column(column);
        float low = infinity, high = -infinity;
        bool missing = false;
        for (std::size_t i = node.begin; i < node.end; ++i) {
            const float value = values[rows_[i]];
            missing = missing || value == infinity;
            if (value == infinity) continue;
            low = std::min(low, value);
            high = std::max(high, value);
        }
        if (low > high || (low == high && !missing)) return std::nullopt;
        const auto threshold = static_cast<float>(
            static_cast<double>(low) + random_.uniform() * (static_cast<double>(high) - static_cast<double>(low)));
        // At the very top only missing values would be left on the right.
        if (threshold >= high) return missing ? high : low;
        return threshold;
    }

    std::size_t divide(const Open& node, const Cut& cut) {
        const auto values = samples_.column(cut.column);
        const auto from = rows_.begin() + static_cast<std::ptrdiff_t>(node.begin);
        const auto to = rows_.begin() + static_cast<std::ptrdiff_t>(node.end);
        const auto middle = std::partition(from, to, [&](std::uint32_t row) { return values[row] <= cut.threshold; });
        return static_cast<std::size_t>(middle - rows_.begin());
    }

    const Samples& samples_;
    std::vector<std::uint32_t> rows_;
    Random& random_;
    std::vector<std::size_t> columns_;
};

std::vector<std::uint32_t> drawn_rows(std::size_t rows, std::size_t wanted, Random& random) {
    std::vector<std::uint32_t> indices(rows);
    std::iota(indices.begin(), indices.end(), 0U);
    for (std::size_t i = 0; i < wanted; ++i) std::swap(indices[i], indices[i + random.below(rows - i)]);
    indices.resize(wanted);
    return indices;
}

}  // namespace

double usual_path_length(std::size_t rows) {
    if (rows < 2) return 0;
    if (rows == 2) return 1;
    const auto n = static_cast<double>(rows);
    return 2 * (std::log(n - 1) + std::numbers::egamma) - 2 * (n - 1) / n;
}

IsolationForest fit_isolation_forest(const Samples& samples, const IsolationSettings& settings) {
    if (samples.rows() == 0 || samples.columns() == 0)
        throw Error("cannot isolate rows: there are no rows or no columns");
    if (settings.trees == 0 || settings.rows_per_tree == 0)
        throw Error("cannot isolate rows without trees, or with trees without rows");
    const std::size_t wanted = std::min(settings.rows_per_tree, samples.rows());
    IsolationForest isolation;
    isolation.usual_length = usual_path_length(wanted);
    Random random(settings.seed);
    for (std::size_t tree = 0; tree < settings.trees; ++tree)
        IsolationTree(samples, drawn_rows(samples.rows(), wanted, random), random).grow(isolation.forest);
    return isolation;
}

double anomaly_score(const IsolationForest& isolation, std::span<const float> row) {
    if (!(isolation.usual_length > 0)) return 0.5;
    return std::exp2(-predict(isolation.forest, row) / isolation.usual_length);
}

}  // namespace joulecast
