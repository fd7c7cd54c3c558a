#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/learn/samples.h"
#include "joulecast/learn/standardisation.h"

namespace joulecast {

/// How k-nearest neighbours are asked.
struct NeighbourSettings {
    std::size_t k = 5;        ///< all rows where there are fewer
    bool by_distance = true;  ///< mean weighted by 1 / distance; false: all alike
    bool scaled = true;       ///< columns over their deviation; false: only less their mean
};

/// The training rows themselves, as float32. A forecast looks at every row, O(rows * columns): about 0.1 ms for 1,000
/// rows of 80 columns; a tree over the rows is no better in that many dimensions.
struct Neighbours {
    Standardisation inputs;
    std::uint32_t k = 1;
    bool by_distance = false;
    std::vector<float> points;    ///< prepared, row after row
    std::vector<double> targets;  ///< one per row

    friend bool operator==(const Neighbours&, const Neighbours&) = default;
};

/// Throws Error for k = 0.
Neighbours fit_neighbours(const Samples& samples, std::span<const double> targets, const NeighbourSettings& settings);

/// Of equally near rows the first count. Rows at distance zero are the forecast where neighbours are weighted.
double predict(const Neighbours& model, std::span<const float> row);
void check(const Neighbours& model, std::size_t columns);

}  // namespace joulecast
