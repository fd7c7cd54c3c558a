#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "joulecast/learn/samples.h"
#include "joulecast/learn/standardisation.h"

namespace joulecast {

/// How support vector regression is fitted; the words are scikit-learn's.
struct VectorSettings {
    double C = 1;
    double epsilon = 0.1;         ///< in standard deviations of the target
    std::optional<double> gamma;  ///< of the kernel exp(-gamma d^2); absent: 1 / (columns * variance), "scale"
    double tolerance = 1e-3;      ///< at which the solver ends
    double cache_bytes = 200e6;
};

/// mean + scale * (sum of coefficient * exp(-gamma * squared distance) + offset).
struct SupportVectors {
    Standardisation inputs;
    TargetScale target;
    double gamma = 1;
    double offset = 0;
    std::vector<float> points;  ///< prepared support vectors, one after the other
    std::vector<double> coefficients;

    friend bool operator==(const SupportVectors&, const SupportVectors&) = default;
};

/// Epsilon-SVR with a radial kernel by libsvm (Chang, Lin 2011), on standardised columns and target. Between O(rows^2)
/// and O(rows^3). Throws Error for settings that libsvm refuses.
SupportVectors fit_support_vectors(const Samples& samples, std::span<const double> targets,
                                   const VectorSettings& settings);

double predict(const SupportVectors& model, std::span<const float> row);
void check(const SupportVectors& model, std::size_t columns);

}  // namespace joulecast
