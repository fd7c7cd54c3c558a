#include "joulecast/learn/column_order.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace joulecast {
namespace {

/// An integer that orders as the float does; both zeros alike.
std::uint32_t key(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
    return (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
}

}  // namespace

ColumnOrder::ColumnOrder(const Samples& samples) : columns_(samples.columns()) {
    // Value above, row below: one comparison of integers, and equal values stay in the order of rows.
    std::vector<std::uint64_t> keys(samples.rows());
    for (std::size_t c = 0; c < samples.columns(); ++c) {
        const auto values = samples.column(c);
        if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) continue;
        for (std::size_t row = 0; row < keys.size(); ++row) {
            keys[row] = std::uint64_t{key(values[row])} << 32U | row;
        }
        std::sort(keys.begin(), keys.end());
        columns_[c].resize(keys.size());
        std::transform(keys.begin(), keys.end(), columns_[c].begin(),
                       [](std::uint64_t k) { return static_cast<std::uint32_t>(k); });
    }
}

PresortedRows::PresortedRows(const ColumnOrder& order, std::size_t columns, std::span<const std::uint32_t> rows,
                             std::size_t rows_of_samples)
    : columns_(columns), scratch_(rows.size()) {
    std::vector<std::uint32_t> times(rows_of_samples);
    for (const std::uint32_t row : rows) ++times[row];
    for (std::size_t c = 0; c < columns; ++c) {
        if (order.column(c).empty()) continue;
        columns_[c].reserve(rows.size());
        for (const std::uint32_t row : order.column(c)) columns_[c].insert(columns_[c].end(), times[row], row);
    }
}

void PresortedRows::divide(std::size_t column, NodeRows node, std::span<const std::uint8_t> goes_left) {
    joulecast::divide(std::span(columns_[column]).subspan(node.begin, node.size()), goes_left, scratch_);
}

std::size_t divide(std::span<std::uint32_t> rows, std::span<const std::uint8_t> goes_left,
                   std::vector<std::uint32_t>& scratch) {
    std::size_t left = 0;
    std::size_t right = 0;
    for (const std::uint32_t row : rows) {
        // Both places are written and one counts: no branch to guess. `left` never passes the row just read.
        const std::size_t is_left = goes_left[row];
        rows[left] = row;
        scratch[right] = row;
        left += is_left;
        right += 1 - is_left;
    }
    std::copy_n(scratch.begin(), right, rows.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
}

}  // namespace joulecast
