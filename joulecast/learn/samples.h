#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace joulecast {

/// Feature values for training, column-major in float32 (what the trees compare). A missing value (NaN) is kept as
/// +infinity: it lies above every threshold, as a NaN does in the walker.
class Samples {
  public:
    Samples(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), values_(rows * columns) {}

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    void set(std::size_t row, std::size_t column, float value) {
        values_[column * rows_ + row] = std::isnan(value) ? std::numeric_limits<float>::infinity() : value;
    }
    void set_row(std::size_t row, std::span<const float> values) {
        for (std::size_t column = 0; column < columns_; ++column) set(row, column, values[column]);
    }
    float at(std::size_t row, std::size_t column) const { return values_[column * rows_ + row]; }
    /// As learned models are asked with it.
    std::vector<float> row(std::size_t row) const {
        std::vector<float> values(columns_);
        for (std::size_t column = 0; column < columns_; ++column) values[column] = at(row, column);
        return values;
    }
    std::span<const float> column(std::size_t column) const {
        return std::span(values_).subspan(column * rows_, rows_);
    }

  private:
    std::size_t rows_;
    std::size_t columns_;
    std::vector<float> values_;
};

}  // namespace joulecast
