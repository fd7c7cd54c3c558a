#include "joulecast/learn/support_vectors.h"

#include <libsvm/svm.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// Rows as libsvm takes them: index and value of what is not zero, ended by index -1.
struct SparseRows {
    std::vector<svm_node> nodes;
    std::vector<std::size_t> starts;
};

SparseRows sparse(std::span<const float> points, std::size_t width) {
    SparseRows rows;
    for (std::size_t begin = 0; begin < points.size(); begin += width) {
        rows.starts.push_back(rows.nodes.size());
        for (std::size_t i = 0; i < width; ++i) {
            const float value = points[begin + i];
            if (value != 0) rows.nodes.push_back({static_cast<int>(i + 1), static_cast<double>(value)});
        }
        rows.nodes.push_back({-1, 0});
    }
    return rows;
}

double variance(std::span<const float> values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value);
    const double mean = sum / static_cast<double>(values.size());
    double squares = 0;
    for (const float value : values)
        squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
    return squares / static_cast<double>(values.size());
}

double default_gamma(std::span<const float> points, std::size_t width) {
    const double of_all = variance(points);
    return 1 / (static_cast<double>(width) * (of_all > 0 ? of_all : 1));
}

svm_parameter parameters(const VectorSettings& settings, double gamma) {
    svm_parameter chosen{};
    chosen.svm_type = EPSILON_SVR;
    chosen.kernel_type = RBF;
    chosen.gamma = gamma;
    chosen.C = settings.C;
    chosen.p = settings.epsilon;
    chosen.eps = settings.tolerance;
    chosen.cache_size = settings.cache_bytes / 1e6;
    chosen.shrinking = 1;
    return chosen;
}

struct FreeModel {
    void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};

}  // namespace

SupportVectors fit_support_vectors(const Samples& samples, std::span<const double> targets,
                                   const VectorSettings& settings) {
    SupportVectors result;
    result.inputs = fit_standardisation(samples);
    result.target = target_scale(targets);
    const std::size_t width = result.inputs.width();
    // Rounded to float32 before training, so that what is kept is exactly what was trained on.
    std::vector<float> points;
    std::vector<double> wanted;
    for (std::size_t row = 0; row < samples.rows(); ++row) {
        for (const double value : prepared(result.inputs, samples, row)) points.push_back(static_cast<float>(value));
        wanted.push_back((targets[row] - result.target.mean) / result.target.scale);
    }
    result.gamma = settings.gamma.value_or(default_gamma(points, width));
    SparseRows rows = sparse(points, width);
    std::vector<svm_node*> starts;
    for (const std::size_t start : rows.starts) starts.push_back(&rows.nodes[start]);
    const svm_problem problem{static_cast<int>(wanted.size()), wanted.data(), starts.data()};
    const svm_parameter chosen = parameters(settings, result.gamma);
    if (const char* refused = svm_check_parameter(&problem, &chosen)) throw Error(std::string("libsvm: ") + refused);
    // One for all threads, and set once: libsvm keeps it in a variable of the process.
    static const bool is_quiet = (svm_set_print_string_function([](const char*) {}), true);
    static_cast<void>(is_quiet);
    const std::unique_ptr<svm_model, FreeModel> trained(svm_train(&problem, &chosen));
    result.offset = -trained->rho[0];
    for (int i = 0; i < trained->l; ++i) {
        const auto row = static_cast<std::size_t>(trained->sv_indices[i] - 1);
        const auto point = std::span(points).subspan(row * width, width);
        result.points.insert(result.points.end(), point.begin(), point.end());
        result.coefficients.push_back(trained->sv_coef[0][i]);
    }
    return result;
}

double predict(const SupportVectors& model, std::span<const float> row) {
    const auto point = prepared_short(model.inputs, row);
    double sum = model.offset;
    for (std::size_t i = 0; i < model.coefficients.size(); ++i) {
        double squared = 0;
        for (std::size_t column = 0; column < point.size(); ++column) {
            const double difference =
                static_cast<double>(point[column]) - static_cast<double>(model.points[i * point.size() + column]);
            squared += difference * difference;
        }
        sum += model.coefficients[i] * std::exp(-model.gamma * squared);
    }
    return model.target.mean + model.target.scale * sum;
}

void check(const SupportVectors& model, std::size_t columns) {
    check(model.inputs, columns);
    check(model.target);
    if (model.points.size() != model.coefficients.size() * model.inputs.width())
        throw FormatError("a support vector model has other coefficients than vectors");
    const auto finite = [](auto value) { return std::isfinite(value); };
    if (!finite(model.offset) || !finite(model.gamma) || model.gamma < 0 ||
        !std::all_of(model.points.begin(), model.points.end(), finite) ||
        !std::all_of(model.coefficients.begin(), model.coefficients.end(), finite)) {
        throw FormatError("a support vector model holds a number that it cannot use");
    }
}

}  // namespace joulecast
