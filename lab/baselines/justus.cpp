#include <algorithm>
#include <cmath>

#include "joulecast/forecast/published/attributes.h"
#include "lab/baselines/layer_regression.h"

namespace joulecast {
namespace {

/// Layer features (batch, sizes, kernel, channels, stride, padding, bias) and those of the hardware: bandwidth, cores,
/// clock, peak (section III-B).
std::vector<float> features(const Subject& subject) {
    std::vector<float> row = layer_hyper_parameters(subject);
    const Device& device = *subject.device;
    const double clock = std::isnan(subject.clock_mhz) ? device.max_clock_mhz : subject.clock_mhz;
    for (const double value : {device.bandwidth_bytes_per_s, static_cast<double>(device.units), clock,
                               peak_flop_per_s(device, compute_dtype(subject.operation->operation), subject.math)}) {
        row.push_back(std::isfinite(value) ? static_cast<float>(value) : 0.0F);
    }
    return row;
}

/// The loss of the authors' program is on log(1 + t) with t in milliseconds.
constexpr double unit_s = 1e-3;

Regression fit_perceptron(LayerRows rows, const BaselineSettings& settings) {
    for (double& target : rows.targets) target = std::log1p(target / unit_s);
    LearnerSettings perceptron;
    perceptron.seed = settings.seed;
    perceptron.threads = settings.threads;
    perceptron.perceptron.hidden = {32, 64, 128, 256};
    perceptron.perceptron.alpha = 1e-5;
    perceptron.perceptron.epochs = 300;
    const Regression fitted = fit_learner(Learner::mlp, rows, perceptron);
    // The paper's output unit is a ReLU of the time itself, which grows in proportion outside of what was trained; an
    // exponential of a logarithm explodes there (to R² below -10^6 on the thesis' rows), so it ends at the longest
    // time.
    const double longest = *std::max_element(rows.targets.begin(), rows.targets.end());
    return [fitted, longest](std::span<const float> row) {
        return std::expm1(std::clamp(fitted(row), 0.0, longest)) * unit_s;
    };
}

}  // namespace

Fitted fit_justus(Observations rows, const BaselineSettings& settings) {
    LayerRegression recipe{layer_type, features,
                           [&](const LayerRows& of_layer) { return fit_perceptron(of_layer, settings); }};
    recipe.least_rows = 10;
    return fit_per_layer(rows, recipe);
}

}  // namespace joulecast
