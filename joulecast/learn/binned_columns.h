#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/learn/samples.h"

namespace joulecast {

/// Every column's values as one of at most 256 bins of about equal numbers of rows, a byte a value: what large data are
/// split by (as in LightGBM, Ke et al. 2017). A column of fewer distinct values has a bin for each and loses nothing.
/// Missing values have a bin of their own, the last.
class BinnedColumns {
  public:
    static constexpr std::size_t most_bins = 256;

    /// Quantiles are those of at most 2^18 rows, evenly spaced.
    explicit BinnedColumns(const Samples& samples);

    std::span<const std::uint8_t> column(std::size_t column) const {
        return std::span(bins_).subspan(column * rows_, rows_);
    }
    std::size_t bin_count(std::size_t column) const { return limits_[column].size(); }
    /// The smallest and the largest value in a bin; low > high for an empty one.
    float low(std::size_t column, std::size_t bin) const { return limits_[column][bin].low; }
    float high(std::size_t column, std::size_t bin) const { return limits_[column][bin].high; }

  private:
    struct Limits {
        float low;
        float high;
    };

    std::size_t rows_;
    std::vector<std::uint8_t> bins_;
    std::vector<std::vector<Limits>> limits_;
};

}  // namespace joulecast
