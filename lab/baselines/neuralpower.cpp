#include <array>
#include <cmath>
#include <vector>

#include "joulecast/forecast/published/attributes.h"
#include "lab/baselines/sparse_polynomial.h"

namespace joulecast {
namespace {

constexpr std::size_t special = 2;  // FLOPs and memory accesses

bool is_fully_connected(const PreparedOperation& operation) {
    return operation.family() == Family::matmul && find_argument(operation.operation, "weight");
}

/// The paper's three kinds of layer; others have no key in the training rows.
bool is_covered(const Subject& subject) {
    const Family kind = subject.operation->family();
    return kind == Family::convolution || kind == Family::pooling || is_fully_connected(*subject.operation);
}

/// Table 1: batch, sizes of input and output, kernel, stride, padding; or batch, inputs and outputs.
std::vector<float> sizes(const Subject& subject) {
    const Dimensions& d = subject.operation->dimensions;
    const auto plain = [](double x) { return std::isfinite(x) ? static_cast<float>(x) : 0.0F; };
    if (is_fully_connected(*subject.operation)) return {plain(d.gemm_m), plain(d.gemm_k), plain(d.gemm_n)};
    return {plain(d.n),        plain(d.h),      plain(d.c),       plain(d.k),
            plain(d.kernel_h), plain(d.stride), plain(d.padding), plain(d.oh)};
}

void append_special(const Subject& subject, std::vector<float>& row) {
    const Dimensions& d = subject.operation->dimensions;
    const Counts counts = d.forward + d.backward;
    row.push_back(static_cast<float>(static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop)));
    row.push_back(
        static_cast<float>(static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written)));
}

std::vector<float> runtime_features(const Subject& subject) {
    auto row = sizes(subject);
    append_special(subject, row);
    return row;
}

/// Power also sees the logarithms (section 3.2), and grows slower than any product.
std::vector<float> power_features(const Subject& subject) {
    auto row = sizes(subject);
    const auto raw = row;
    for (const float x : raw) row.push_back(std::log1p(x));
    append_special(subject, row);
    return row;
}

}  // namespace

Fitted fit_neuralpower(Observations rows, const BaselineSettings& settings) {
    std::vector<Observation> covered;
    for (const Observation& row : rows) {
        if (is_covered(row.subject)) covered.push_back(row);
    }
    const bool runtime = settings.metric == BaselineMetric::time;
    SparsePolynomialSettings polynomial;
    polynomial.special = special;
    polynomial.most_degree = runtime ? 3 : 2;  // the paper's degrees (tables 2 and 3)
    polynomial.seed = settings.seed;
    LayerRegression recipe{layer_type_on_device, runtime ? runtime_features : power_features,
                           [&](const LayerRows& of_layer) { return fit_sparse_polynomial(of_layer, polynomial); }};
    recipe.least_rows = 10;
    return fit_per_layer(covered, recipe);
}

}  // namespace joulecast
