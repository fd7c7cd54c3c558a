#include "joulecast/physics/non_negative_least_squares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr double smallest_step = 1e-12;  // of the largest weight
constexpr int most_sweeps = 100000;      // columns that nearly depend on each other come together slowly

/// A^T A row by row, and A^T b.
struct NormalEquations {
    std::vector<double> squares;
    std::vector<double> products;
};

NormalEquations normal_equations(std::span<const double> rows, std::span<const double> targets, std::size_t columns) {
    NormalEquations sums{std::vector<double>(columns * columns), std::vector<double>(columns)};
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto row = rows.subspan(i * columns, columns);
        for (std::size_t j = 0; j < columns; ++j) {
            sums.products[j] += row[j] * targets[i];
            for (std::size_t k = 0; k < columns; ++k) sums.squares[j * columns + k] += row[j] * row[k];
        }
    }
    return sums;
}

}  // namespace

std::vector<double> non_negative_least_squares(std::span<const double> rows, std::span<const double> targets) {
    if (targets.empty() || rows.empty() || rows.size() % targets.size() != 0)
        throw Error("non-negative least squares: the rows do not fit the targets");
    const auto is_finite = [](double value) { return std::isfinite(value); };
    if (!std::all_of(rows.begin(), rows.end(), is_finite) || !std::all_of(targets.begin(), targets.end(), is_finite))
        throw Error("non-negative least squares: a number is not finite");
    const std::size_t columns = rows.size() / targets.size();
    const NormalEquations sums = normal_equations(rows, targets, columns);
    std::vector<double> weights(columns);
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double moved = 0;
        for (std::size_t j = 0; j < columns; ++j) {
            const double own = sums.squares[j * columns + j];
            if (!(own > 0)) continue;
            double rest = sums.products[j];
            for (std::size_t k = 0; k < columns; ++k) rest -= sums.squares[j * columns + k] * weights[k];
            const double next = std::max(0.0, weights[j] + rest / own);
            moved = std::max(moved, std::abs(next - weights[j]));
            weights[j] = next;
        }
        if (moved <= smallest_step * *std::max_element(weights.begin(), weights.end())) break;
    }
    return weights;
}

}  // namespace joulecast
