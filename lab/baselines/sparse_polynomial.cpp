#include "lab/baselines/sparse_polynomial.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "joulecast/learn/folds.h"

namespace joulecast {
namespace {

/// A product of columns, by place and with repeats: {0, 0, 2} is x0² x2.
using Monomial = std::vector<std::size_t>;

void extend(std::vector<Monomial>& monomials, const Monomial& start, const std::vector<std::size_t>& columns,
            std::size_t from, std::size_t degree) {
    for (std::size_t i = from; i < columns.size() && start.size() < degree; ++i) {
        Monomial next = start;
        next.push_back(columns[i]);
        monomials.push_back(next);
        extend(monomials, next, columns, i, degree);
    }
}

/// All products of up to `degree` of the columns that vary, then the special columns.
std::vector<Monomial> monomials(const Samples& samples, std::size_t special, std::size_t degree) {
    const std::size_t raw = samples.columns() - special;
    std::vector<std::size_t> varying;
    for (std::size_t c = 0; c < raw; ++c) {
        const auto column = samples.column(c);
        if (std::any_of(column.begin(), column.end(), [&](float x) { return x != column.front(); }))
            varying.push_back(c);
    }
    std::vector<Monomial> monomials;
    extend(monomials, {}, varying, 0, degree);
    for (std::size_t c = raw; c < samples.columns(); ++c) monomials.push_back({c});
    return monomials;
}

double value(const Monomial& monomial, std::span<const float> row) {
    double product = 1;
    for (const std::size_t column : monomial) product *= static_cast<double>(row[column]);
    return product;
}

using Matrix = std::vector<std::vector<double>>;

/// Terms of the rows chosen, less their mean and over their deviation; the products of those with each other and with
/// the target, over the number of rows.
struct Problem {
    std::vector<double> means, scales;
    double mean_target = 0;
    Matrix gram;
    std::vector<double> moment;
};

Problem pose(const Matrix& terms, const std::vector<double>& targets, const std::vector<std::size_t>& rows) {
    const std::size_t width = terms.front().size();
    const auto n = static_cast<double>(rows.size());
    Problem p{std::vector<double>(width), std::vector<double>(width), 0, Matrix(width, std::vector<double>(width)),
              std::vector<double>(width)};
    for (const std::size_t i : rows) {
        p.mean_target += targets[i] / n;
        for (std::size_t t = 0; t < width; ++t) p.means[t] += terms[i][t] / n;
    }
    for (const std::size_t i : rows) {
        for (std::size_t t = 0; t < width; ++t)
            p.scales[t] += (terms[i][t] - p.means[t]) * (terms[i][t] - p.means[t]) / n;
    }
    for (double& scale : p.scales) scale = scale > 0 ? std::sqrt(scale) : 1;
    std::vector<double> row(width);
    for (const std::size_t i : rows) {
        for (std::size_t t = 0; t < width; ++t) row[t] = (terms[i][t] - p.means[t]) / p.scales[t];
        for (std::size_t t = 0; t < width; ++t) {
            p.moment[t] += row[t] * (targets[i] - p.mean_target) / n;
            for (std::size_t u = 0; u <= t; ++u) p.gram[t][u] += row[t] * row[u] / n;
        }
    }
    for (std::size_t t = 0; t < width; ++t) {
        for (std::size_t u = 0; u < t; ++u) p.gram[u][t] = p.gram[t][u];
    }
    return p;
}

/// Coordinate descent from `weights` on; `gradient` is moment - gram * weights and kept so.
void descend(const Problem& p, double penalty, std::vector<double>& weights, std::vector<double>& gradient) {
    constexpr int most_passes = 200;
    const double enough = 1e-5 * (1e-300 + *std::max_element(p.moment.begin(), p.moment.end(), [](double a, double b) {
                                      return std::abs(a) < std::abs(b);
                                  }));
    for (int pass = 0; pass < most_passes; ++pass) {
        double largest = 0;
        for (std::size_t t = 0; t < weights.size(); ++t) {
            if (p.gram[t][t] <= 0) continue;
            const double pull = gradient[t] + p.gram[t][t] * weights[t];
            const double next = std::copysign(std::max(0.0, std::abs(pull) - penalty), pull) / p.gram[t][t];
            const double step = next - weights[t];
            if (step == 0) continue;
            weights[t] = next;
            for (std::size_t u = 0; u < weights.size(); ++u) gradient[u] -= p.gram[u][t] * step;
            largest = std::max(largest, std::abs(step));
        }
        if (largest < std::abs(enough)) return;
    }
}

std::vector<std::size_t> support(const std::vector<double>& weights) {
    std::vector<std::size_t> places;
    for (std::size_t t = 0; t < weights.size(); ++t) {
        if (weights[t] != 0) places.push_back(t);
    }
    return places;
}

/// Least squares on the chosen terms, by Cholesky; terms that depend on those before them get nothing.
std::vector<double> refit(const Problem& p, const std::vector<std::size_t>& chosen) {
    const std::size_t n = chosen.size();
    Matrix lower(n, std::vector<double>(n));
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = p.gram[chosen[i]][chosen[j]];
            for (std::size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
            if (i != j) {
                lower[i][j] = lower[j][j] > 0 ? sum / lower[j][j] : 0;
            } else {
                lower[i][i] = sum > 1e-12 ? std::sqrt(sum) : 0;
            }
        }
        double sum = p.moment[chosen[i]];
        for (std::size_t k = 0; k < i; ++k) sum -= lower[i][k] * y[k];
        y[i] = lower[i][i] > 0 ? sum / lower[i][i] : 0;
    }
    std::vector<double> weights(p.moment.size());
    for (std::size_t i = n; i-- > 0;) {
        double sum = y[i];
        for (std::size_t k = i + 1; k < n; ++k) sum -= lower[k][i] * weights[chosen[k]];
        weights[chosen[i]] = lower[i][i] > 0 ? sum / lower[i][i] : 0;
    }
    return weights;
}

/// Penalties from the one at which all weights are zero down to a thousandth of it, as scikit-learn's LassoCV.
constexpr std::size_t path_length = 25;
double penalty_at(double largest, std::size_t step) {
    return largest * std::pow(1e-3, static_cast<double>(step) / (path_length - 1));
}
double largest_penalty(const Problem& p) {
    double largest = 0;
    for (const double m : p.moment) largest = std::max(largest, std::abs(m));
    return largest;
}

double squared_error(const Problem& p, const std::vector<double>& weights, const Matrix& terms,
                     const std::vector<double>& targets, const std::vector<std::size_t>& rows) {
    double error = 0;
    for (const std::size_t i : rows) {
        double sum = p.mean_target - targets[i];
        for (std::size_t t = 0; t < weights.size(); ++t) {
            if (weights[t] != 0) sum += weights[t] * (terms[i][t] - p.means[t]) / p.scales[t];
        }
        error += sum * sum;
    }
    return error;
}

struct Choice {
    std::size_t degree = 1;
    std::size_t step = 0;
    bool refitted = false;
    double error = std::numeric_limits<double>::infinity();
};

class Search {
  public:
    Search(const LayerRows& rows, const SparsePolynomialSettings& settings, std::size_t degree)
        : targets_(rows.targets), terms_of_(monomials(rows.samples, settings.special, degree)) {
        for (std::size_t i = 0; i < rows.samples.rows(); ++i) {
            const std::vector<float> row = rows.features(i);
            terms_.emplace_back();
            for (const Monomial& m : terms_of_) terms_.back().push_back(value(m, row));
            all_.push_back(i);
        }
    }

    const std::vector<Monomial>& terms() const { return terms_of_; }

    /// Adds the errors on rows left out: per step of the path, by the lasso's weights and by those fitted anew.
    void add_errors(const std::vector<std::size_t>& inside, const std::vector<std::size_t>& outside,
                    std::vector<double>& lasso, std::vector<double>& refitted) const {
        const Problem p = pose(terms_, targets_, inside);
        walk(p, path_length, [&](std::size_t step, const std::vector<double>& weights) {
            lasso[step] += squared_error(p, weights, terms_, targets_, outside);
            refitted[step] += squared_error(p, refit(p, support(weights)), terms_, targets_, outside);
        });
    }

    /// The weights on all rows at that step of the path.
    std::vector<double> weights(std::size_t step, Problem& p) const {
        p = pose(terms_, targets_, all_);
        std::vector<double> last;
        walk(p, step + 1, [&](std::size_t, const std::vector<double>& found) { last = found; });
        return last;
    }

  private:
    template <class Visit>
    void walk(const Problem& p, std::size_t steps, const Visit& visit) const {
        std::vector<double> weights(terms_of_.size());
        std::vector<double> gradient = p.moment;
        const double largest = largest_penalty(p);
        for (std::size_t step = 0; step < steps; ++step) {
            descend(p, penalty_at(largest, step), weights, gradient);
            visit(step, weights);
        }
    }

    const std::vector<double>& targets_;
    std::vector<Monomial> terms_of_;
    Matrix terms_;
    std::vector<std::size_t> all_;
};

Choice choose(const LayerRows& rows, const SparsePolynomialSettings& settings) {
    std::vector<std::string> groups;
    for (const std::size_t group : rows.groups) groups.push_back(std::to_string(group));
    const auto fold_of = group_folds(groups, settings.folds, settings.seed);
    Choice best;
    for (std::size_t degree = 1; degree <= settings.most_degree; ++degree) {
        const Search search(rows, settings, degree);
        if (search.terms().empty()) break;
        std::vector<double> lasso(path_length), refitted(path_length);
        for (std::size_t fold = 0; fold < settings.folds; ++fold) {
            std::vector<std::size_t> inside, outside;
            for (std::size_t i = 0; i < fold_of.size(); ++i) (fold_of[i] == fold ? outside : inside).push_back(i);
            if (!inside.empty() && !outside.empty()) search.add_errors(inside, outside, lasso, refitted);
        }
        for (std::size_t step = 0; step < path_length; ++step) {
            if (lasso[step] < best.error) best = {degree, step, false, lasso[step]};
            if (refitted[step] < best.error) best = {degree, step, true, refitted[step]};
        }
    }
    return best;
}

/// The chosen terms of a row.
std::vector<float> chosen_terms(const std::vector<Monomial>& chosen, std::span<const float> row) {
    std::vector<float> terms;
    for (const Monomial& m : chosen) terms.push_back(static_cast<float>(value(m, row)));
    return terms;
}

}  // namespace

Regression fit_sparse_polynomial(const LayerRows& rows, const SparsePolynomialSettings& settings) {
    const Choice choice = choose(rows, settings);
    const Search search(rows, settings, choice.degree);
    Problem p;
    const std::vector<double> weights = search.terms().empty() ? std::vector<double>{} : search.weights(choice.step, p);
    const auto places = support(weights);
    if (places.empty()) {
        double mean = 0;
        for (const double target : rows.targets) mean += target / static_cast<double>(rows.targets.size());
        return [mean](std::span<const float>) { return mean; };
    }
    std::vector<Monomial> chosen;
    for (const std::size_t t : places) chosen.push_back(search.terms()[t]);
    if (choice.refitted) {
        LayerRows reduced{Samples(rows.samples.rows(), chosen.size()), rows.targets, rows.groups};
        for (std::size_t i = 0; i < rows.samples.rows(); ++i) {
            reduced.samples.set_row(i, chosen_terms(chosen, rows.features(i)));
        }
        const Regression line = fit_learner(Learner::linear, reduced, {});
        return [line, chosen](std::span<const float> row) { return line(chosen_terms(chosen, row)); };
    }
    std::vector<double> factors;
    double constant = p.mean_target;
    for (const std::size_t t : places) {
        factors.push_back(weights[t] / p.scales[t]);
        constant -= factors.back() * p.means[t];
    }
    return [chosen, factors, constant](std::span<const float> row) {
        double sum = constant;
        for (std::size_t i = 0; i < chosen.size(); ++i) sum += factors[i] * value(chosen[i], row);
        return sum;
    };
}

}  // namespace joulecast
