#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/learn/samples.h"
#include "joulecast/learn/standardisation.h"

namespace joulecast {

/// How a perceptron is trained; the words are those of scikit-learn's MLPRegressor.
struct PerceptronSettings {
    std::vector<std::size_t> hidden = {64, 64};  ///< units of each hidden layer
    double learning_rate = 1e-3;
    double alpha = 1e-4;  ///< penalty on the squared weights
    std::size_t batch = 200;
    std::size_t epochs = 300;  ///< at most
    /// Share of the groups kept aside: training ends when `patience` epochs brought no better R² there, and the best
    /// weights are kept. 0: none is kept aside, and the loss on the training rows decides.
    double held_out = 0.1;
    std::size_t patience = 20;
    std::vector<std::size_t> groups;  ///< per row; empty: every row for itself
    std::uint64_t seed = 1;
};

/// Weights (outputs x inputs, inputs of one output together) and biases between two layers of units.
struct PerceptronLayer {
    std::uint32_t inputs = 0;
    std::uint32_t outputs = 0;
    std::vector<float> weights;
    std::vector<float> biases;

    friend bool operator==(const PerceptronLayer&, const PerceptronLayer&) = default;
};

/// A multilayer perceptron with rectified units, one output, standardised columns and target.
struct Perceptron {
    Standardisation inputs;
    TargetScale target;
    std::vector<PerceptronLayer> layers;

    friend bool operator==(const Perceptron&, const Perceptron&) = default;
};

/// By Adam (Kingma, Ba 2015) from Glorot's uniform start, as MLPRegressor does. Deterministic by seed.
/// Throws Error for hidden layers without units.
Perceptron fit_perceptron(const Samples& samples, std::span<const double> targets, const PerceptronSettings& settings);

double predict(const Perceptron& model, std::span<const float> row);
void check(const Perceptron& model, std::size_t columns);

/// Half of the mean squared error plus alpha / (2 rows) of the squared weights, and its gradient.
struct PerceptronLoss {
    double loss = 0;
    std::vector<double> gradient;  ///< per parameter: layer after layer, its weights, then its biases
};

/// `units`: of every layer, inputs first. `rows` one after the other, `units.front()` values each.
PerceptronLoss perceptron_loss(std::span<const std::size_t> units, std::span<const double> parameters,
                               std::span<const double> rows, std::span<const double> targets, double alpha);

}  // namespace joulecast
