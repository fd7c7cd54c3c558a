#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "joulecast/learn/binned_columns.h"
#include "joulecast/learn/column_order.h"
#include "joulecast/learn/learner.h"
#include "joulecast/learn/random.h"

namespace joulecast {

/// What all trees of a forest share: the columns sorted once for exact splits, or binned once for large data. Neither
/// for random thresholds, which need no order.
struct SplitColumns {
    std::optional<ColumnOrder> order;
    std::optional<BinnedColumns> bins;
};

SplitColumns split_columns(const Samples& samples, const TreeSettings& settings);

/// Grows regression trees. Split choice as in scikit-learn, which is the oracle: columns are tried in random order
/// until the wanted number was seen and one of them was not constant; values closer than 1e-7 count as equal.
/// A column that is constant in a node is left alone below it. Cost of a tree: rows x columns x depth.
class TreeGrower {
  public:
    /// All but the settings' copy must outlive the grower.
    TreeGrower(const Samples& samples, const SplitColumns& shared, std::span<const double> targets,
               const TreeSettings& settings, Random& random);

    /// The tree over these rows (repeats allowed), in preorder.
    std::vector<ForestNode> grow(std::vector<std::uint32_t> rows);

  private:
    struct Split {
        std::size_t column = 0;
        float threshold = 0;
        double score = 0;  ///< sum_left^2 / n_left + sum_right^2 / n_right: larger is less squared error
    };
    struct Open {
        NodeRows rows;
        std::size_t depth = 0;
        std::int32_t parent = -1;    ///< whose right child this is
        std::size_t live_begin = 0;  ///< its columns in live_: not known to be constant
        std::size_t live_end = 0;
    };
    /// Of the targets in a node.
    struct Summary {
        double sum = 0;
        bool pure = true;
        double mean = 0;
    };

    /// Columns that have a random threshold but no sums yet.
    static constexpr std::size_t lanes = 4;
    struct Drawn {
        std::size_t count = 0;
        std::array<std::size_t, lanes> columns{};
        std::array<float, lanes> thresholds{};
    };

    /// Sums up the node's targets and lays them into node_targets_.
    Summary summary(NodeRows node);
    bool may_split(std::size_t rows, std::size_t depth) const;
    /// Divides the node's rows and returns its two children, the left one second.
    void divide(const Open& node, const Split& split, std::int32_t index, std::vector<Open>& open);

    std::optional<Split> choose_split(const Open& node, double total);
    /// Marks the node's live columns; returns how many columns are to be tried.
    std::size_t mark_live(const Open& node);
    /// Moves one of the columns that were not yet drawn to place `tried`, and returns it.
    std::size_t draw_column(std::size_t tried);
    std::optional<Split> find_split(const Open& node, double total);
    std::optional<Split> try_column(NodeRows node, std::size_t column, double total);
    std::optional<Split> best_of_presorted(NodeRows node, std::size_t column, double total);
    std::optional<Split> best_of_bins(NodeRows node, std::size_t column, double total);
    std::optional<Split> best_of_sorted(NodeRows node, std::size_t column, double total);
    /// As find_split(), with a random threshold a column, and the sums of several columns added up at once: one alone
    /// waits for each of its additions.
    std::optional<Split> find_random_split(const Open& node, double total);
    void draw_threshold(NodeRows node, std::size_t column);
    void choose_best(NodeRows node, double total, std::optional<Split>& best);

    const Samples& samples_;
    const SplitColumns& shared_;
    std::span<const double> targets_;
    TreeSettings settings_;
    Random& random_;
    std::vector<std::uint32_t> rows_;
    std::optional<PresortedRows> presorted_;
    std::vector<std::size_t> columns_;     ///< in the order they are drawn
    std::vector<std::size_t> live_;        ///< columns of all open nodes, one list behind the other
    std::vector<std::uint8_t> is_live_;    ///< per column, for the node at hand
    std::vector<std::uint8_t> goes_left_;  ///< per row of the samples
    std::vector<double> node_targets_;     ///< of the node at hand, in the order of rows_
    Drawn drawn_;
    std::vector<float> node_values_;  ///< scratch: of the node at hand, those of the drawn columns side by side
    std::vector<std::uint32_t> scratch_;
    std::vector<std::pair<float, double>> sorted_;  ///< scratch: value and target
};

}  // namespace joulecast
