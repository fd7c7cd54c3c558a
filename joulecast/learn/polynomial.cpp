#include "joulecast/learn/polynomial.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "joulecast/error.h"
#include "joulecast/learn/folds.h"

namespace joulecast {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t inner_folds = 5;
constexpr std::array<double, 7> penalties{1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3};

std::size_t products_of(std::size_t factors) {
    return factors * (factors + 1) / 2;
}

/// The R of the QR decomposition of all rows seen so far: as good as the rows for every least-squares question about
/// them. Columns: 1, terms, target. No more rows than columns, and fewer while fewer were seen.
class Triangle {
  public:
    explicit Triangle(std::size_t terms)
        : size_(static_cast<Index>(terms) + 2),
          stacked_(MatrixXd::Zero(size_ + std::max<Index>(256, 2 * size_), size_)) {}

    void add(const std::vector<double>& terms, double target) {
        if (rows_ == stacked_.rows()) reduce();
        stacked_(rows_, 0) = 1;
        stacked_.row(rows_).segment(1, size_ - 2) =
            Eigen::Map<const Eigen::RowVectorXd>(terms.data(), static_cast<Index>(terms.size()));
        stacked_(rows_, size_ - 1) = target;
        ++rows_;
        is_reduced_ = false;
    }
    void add(const MatrixXd& triangle) {
        if (triangle.rows() == 0) return;
        if (rows_ + triangle.rows() > stacked_.rows()) reduce();
        stacked_.middleRows(rows_, triangle.rows()) = triangle;
        rows_ += triangle.rows();
        is_reduced_ = false;
    }
    MatrixXd reduced() {
        reduce();
        return stacked_.topRows(rows_);
    }

  private:
    void reduce() {
        if (is_reduced_) return;
        const Eigen::HouseholderQR<MatrixXd> qr(stacked_.topRows(rows_));
        rows_ = std::min(rows_, size_);
        stacked_.topRows(rows_) = qr.matrixQR().topRows(rows_).triangularView<Eigen::Upper>();
        is_reduced_ = true;
    }

    Index size_;
    MatrixXd stacked_;
    Index rows_ = 0;  ///< filled, from the top
    bool is_reduced_ = true;
};

struct Fitted {
    double intercept = 0;
    VectorXd weights;
};

/// Weights that reach `b` with a penalty on their squares. The normal equations of the columns, or with fewer rows than
/// columns those of the rows, which have the same solution: A'(AA' + alpha)^-1 b = (A'A + alpha)^-1 A'b.
VectorXd ridge(const MatrixXd& a, const VectorXd& b, double alpha) {
    const bool few_rows = a.rows() < a.cols();
    MatrixXd normal = few_rows ? MatrixXd(a * a.transpose()) : MatrixXd(a.transpose() * a);
    normal.diagonal().array() += alpha;
    if (few_rows) return a.transpose() * normal.llt().solve(b);
    return normal.llt().solve(a.transpose() * b);
}

/// Below the first row, the triangle is that of the terms and the target less their means.
Fitted solve(const MatrixXd& triangle, std::size_t rows, double alpha) {
    const Index terms = triangle.cols() - 2;
    const MatrixXd a = triangle.block(1, 1, std::min(triangle.rows() - 1, terms), terms);
    const VectorXd b = triangle.col(terms + 1).segment(1, a.rows());
    Fitted fitted;
    if (a.rows() == 0) {
        fitted.weights = VectorXd::Zero(terms);  // one row says nothing of them
    } else if (alpha > 0) {
        fitted.weights = ridge(a, b, alpha);
    } else {
        // Columns count as dependent as in LAPACK's and scikit-learn's least squares: n eps of the largest.
        Eigen::CompleteOrthogonalDecomposition<MatrixXd> decomposed(a.rows(), terms);
        decomposed.setThreshold(static_cast<double>(std::max(rows, static_cast<std::size_t>(terms))) *
                                std::numeric_limits<double>::epsilon());
        decomposed.compute(a);
        fitted.weights = decomposed.solve(b);
    }
    const double ones = triangle(0, 0);
    fitted.intercept = (triangle(0, terms + 1) - triangle.row(0).segment(1, terms).dot(fitted.weights)) / ones;
    return fitted;
}

double squared_error(const MatrixXd& triangle, const Fitted& fitted) {
    const Index terms = triangle.cols() - 2;
    VectorXd question(terms + 2);
    question << fitted.intercept, fitted.weights, -1;
    return (triangle * question).squaredNorm();
}

/// The prepared row and the products of its factors.
std::vector<double> terms_of(std::vector<double> row, const std::vector<std::uint32_t>& factors) {
    const std::size_t columns = row.size();
    row.reserve(columns + products_of(factors.size()));
    for (std::size_t i = 0; i < factors.size(); ++i) {
        for (std::size_t j = i; j < factors.size(); ++j) row.push_back(row[factors[i]] * row[factors[j]]);
    }
    return row;
}

/// The prepared columns that correlate most with the target, ascending.
std::vector<std::uint32_t> choose_factors(const Standardisation& inputs, const Samples& samples,
                                          std::span<const double> targets, std::size_t wanted) {
    const double mean = target_scale(targets).mean;
    std::vector<double> product(inputs.width(), 0);
    std::vector<double> square(inputs.width(), 0);
    for (std::size_t row = 0; row < samples.rows(); ++row) {
        const auto values = prepared(inputs, samples, row);
        for (std::size_t column = 0; column < values.size(); ++column) {
            product[column] += values[column] * (targets[row] - mean);
            square[column] += values[column] * values[column];
        }
    }
    std::vector<std::uint32_t> order(inputs.width());
    std::iota(order.begin(), order.end(), 0U);
    const auto strength = [&](std::uint32_t column) {
        return square[column] > 0 ? std::abs(product[column]) / std::sqrt(square[column]) : -1.0;
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return strength(a) > strength(b); });
    order.resize(std::min(wanted, order.size()));
    std::sort(order.begin(), order.end());
    return order;
}

std::vector<std::size_t> fold_of_rows(const LinearSettings& settings, std::size_t rows) {
    const std::size_t folds = std::min(inner_folds, rows);
    if (folds < 2) return std::vector<std::size_t>(rows, 0);
    if (settings.groups.empty()) return random_folds(rows, folds, settings.seed);
    return group_folds(settings.groups, folds, settings.seed);
}

/// Of the folds' triangles all together, but for one.
MatrixXd without(std::vector<Triangle>& folds, std::size_t left_out, std::size_t terms) {
    Triangle sum(terms);
    for (std::size_t fold = 0; fold < folds.size(); ++fold) {
        if (fold != left_out) sum.add(folds[fold].reduced());
    }
    return sum.reduced();
}

double best_penalty(std::vector<Triangle>& folds, std::size_t terms, std::size_t rows) {
    std::array<double, penalties.size()> errors{};
    for (std::size_t fold = 0; fold < folds.size(); ++fold) {
        const MatrixXd others = without(folds, fold, terms);
        if (others.rows() == 0) continue;  // all rows are of one fold
        const MatrixXd left_out = folds[fold].reduced();
        for (std::size_t i = 0; i < penalties.size(); ++i)
            errors[i] += squared_error(left_out, solve(others, rows, penalties[i]));
    }
    return penalties[static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin())];
}

}  // namespace

Polynomial fit_polynomial(const Samples& samples, std::span<const double> targets, const LinearSettings& settings) {
    if (settings.alpha && !(*settings.alpha >= 0)) throw Error("the penalty of a ridge regression is below zero");
    Polynomial model;
    model.inputs = fit_standardisation(samples, settings.scaled);
    model.factors = choose_factors(model.inputs, samples, targets, settings.factors);
    const std::size_t width = model.inputs.width();
    const std::size_t terms = width + products_of(model.factors.size());
    const bool chooses = !settings.alpha;
    const auto fold_of = chooses ? fold_of_rows(settings, samples.rows()) : std::vector<std::size_t>(samples.rows(), 0);
    std::vector<Triangle> folds(chooses ? inner_folds : 1, Triangle(terms));
    for (std::size_t row = 0; row < samples.rows(); ++row) {
        folds[fold_of[row]].add(terms_of(prepared(model.inputs, samples, row), model.factors), targets[row]);
    }
    const double alpha = settings.alpha ? *settings.alpha : best_penalty(folds, terms, samples.rows());
    const Fitted fitted = solve(without(folds, folds.size(), terms), samples.rows(), alpha);
    const auto begin = fitted.weights.begin();
    model.intercept = fitted.intercept;
    model.weights.assign(begin, begin + static_cast<Index>(width));
    model.product_weights.assign(begin + static_cast<Index>(width), fitted.weights.end());
    return model;
}

double predict(const Polynomial& model, std::span<const float> row) {
    const auto terms = terms_of(prepared(model.inputs, row), model.factors);
    const std::size_t width = model.weights.size();
    double sum = model.intercept;
    for (std::size_t i = 0; i < width; ++i) sum += model.weights[i] * terms[i];
    for (std::size_t i = width; i < terms.size(); ++i) sum += model.product_weights[i - width] * terms[i];
    return sum;
}

void check(const Polynomial& model, std::size_t columns) {
    check(model.inputs, columns);
    const std::size_t width = model.inputs.width();
    if (model.weights.size() != width || model.factors.size() > width ||
        model.product_weights.size() != products_of(model.factors.size())) {
        throw FormatError("a polynomial has other weights than terms");
    }
    for (const std::uint32_t factor : model.factors) {
        if (factor >= width) throw FormatError("a polynomial multiplies a column that is not there");
    }
    double sum = model.intercept;
    for (const double weight : model.weights) sum += std::abs(weight);
    for (const double weight : model.product_weights) sum += std::abs(weight);
    if (!std::isfinite(sum)) throw FormatError("a polynomial holds a number that is not finite");
}

}  // namespace joulecast
