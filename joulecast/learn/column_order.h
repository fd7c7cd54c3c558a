#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/learn/samples.h"

namespace joulecast {

/// The rows in ascending order of each column's values, equal ones by row number. Sorted once for all trees of a
/// forest: 4 bytes a value. Columns of a single value are left empty.
class ColumnOrder {
  public:
    explicit ColumnOrder(const Samples& samples);

    std::span<const std::uint32_t> column(std::size_t column) const { return columns_[column]; }

  private:
    std::vector<std::vector<std::uint32_t>> columns_;
};

/// Part of the rows of one tree that a node holds: positions begin to end, the same in every column.
struct NodeRows {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
};

/// The rows of one tree (repeats allowed) in the order of each column, kept in order while nodes are divided: then no
/// node has to sort (Mehta, Agrawal, Rissanen: SLIQ, 1996). 4 bytes a value.
class PresortedRows {
  public:
    PresortedRows(const ColumnOrder& order, std::size_t columns, std::span<const std::uint32_t> rows,
                  std::size_t rows_of_samples);

    std::span<const std::uint32_t> rows(std::size_t column, NodeRows node) const {
        return std::span(columns_[column]).subspan(node.begin, node.size());
    }
    /// Moves the rows of one column for which `goes_left` is 1 before the others; both keep their order.
    void divide(std::size_t column, NodeRows node, std::span<const std::uint8_t> goes_left);

  private:
    std::vector<std::vector<std::uint32_t>> columns_;
    std::vector<std::uint32_t> scratch_;
};

/// Moves the rows for which `goes_left` is 1 before the others; both keep their order. `scratch` holds as many.
/// Returns how many went left.
std::size_t divide(std::span<std::uint32_t> rows, std::span<const std::uint8_t> goes_left,
                   std::vector<std::uint32_t>& scratch);

}  // namespace joulecast
