#pragma once

#include <cmath>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace joulecast {

/// Sum over models of the mean of `value` over each one's samples, so that batches of a model count as one. Samples of
/// which it is NaN do not count.
template <class Sample, class Value>
double sum_of_model_means(std::span<const Sample> samples, Value value) {
    std::map<std::string, std::pair<double, double>> by_model;
    for (const Sample& sample : samples) {
        const double of_sample = value(sample);
        if (std::isnan(of_sample)) continue;
        auto& [sum, count] = by_model[sample.model];
        sum += of_sample;
        count += 1;
    }
    double sum = 0;
    for (const auto& [model, total] : by_model) sum += total.first / total.second;
    return sum;
}

/// A square that grows like a line beyond `scale`: one sample of another kind than all others must not decide for them.
inline double tamed_square(double error, double scale) {
    return 2 * scale * scale * (std::sqrt(1 + error * error / (scale * scale)) - 1);
}

}  // namespace joulecast
