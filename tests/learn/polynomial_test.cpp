#include "joulecast/learn/polynomial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

struct Table {
    Samples samples;
    std::vector<double> targets;
};

/// Rows of uniform values in float32 and what `truth` says of them.
Table table(std::size_t rows, std::size_t columns, const std::function<double(const std::vector<float>&)>& truth) {
    Table result{Samples(rows, columns), {}};
    Random random(3);
    for (std::size_t i = 0; i < rows; ++i) {
        std::vector<float> row;
        for (std::size_t c = 0; c < columns; ++c) row.push_back(static_cast<float>(4 * random.uniform() - 1));
        result.samples.set_row(i, row);
        result.targets.push_back(truth(row));
    }
    return result;
}

double plane(const std::vector<float>& x) {
    return 5 + 2 * static_cast<double>(x[0]) - 3 * static_cast<double>(x[1]);
}

TEST(Polynomial, FindsAPlaneExactly) {
    const Table t = table(2000, 3, plane);  // more rows than one block of the decomposition holds
    LinearSettings least_squares;
    least_squares.alpha = 0;
    for (const bool scaled : {true, false}) {
        least_squares.scaled = scaled;
        const auto model = fit_polynomial(t.samples, t.targets, least_squares);
        EXPECT_NEAR(predict(model, std::vector{0.0F, 0.0F, 9.0F}), 5, 1e-10);
        EXPECT_NEAR(predict(model, std::vector{10.0F, 0.0F, 0.0F}), 25, 1e-10);
        EXPECT_NEAR(predict(model, std::vector{0.0F, 10.0F, 0.0F}), -25, 1e-10);
    }
}

TEST(Polynomial, SharesTheWeightOfEqualColumnsEqually) {
    // y = 2 x with the column given twice: of all (a, b) with a + b = 2 the shortest is (1, 1).
    Samples twice(50, 2);
    std::vector<double> targets;
    for (std::size_t i = 0; i < 50; ++i) {
        twice.set_row(i, std::vector{static_cast<float>(i), static_cast<float>(i)});
        targets.push_back(2.0 * static_cast<double>(i));
    }
    LinearSettings least_squares;
    least_squares.alpha = 0;
    least_squares.scaled = false;
    const auto model = fit_polynomial(twice, targets, least_squares);
    EXPECT_NEAR(model.weights[0], 1, 1e-9);
    EXPECT_NEAR(model.weights[1], 1, 1e-9);
}

TEST(Polynomial, ShrinksAsRidgeDoes) {
    // One standardised column z of n = 4 rows: w = sum(z y) / (n + alpha). x = 1 3 5 7, y = x: sum(z y) = 4 sqrt(5).
    Samples samples(4, 1);
    std::vector<double> targets;
    for (std::size_t i = 0; i < 4; ++i) {
        samples.set(i, 0, static_cast<float>(2 * i + 1));
        targets.push_back(2.0 * static_cast<double>(i) + 1);
    }
    LinearSettings ridge;
    ridge.alpha = 4;
    const auto model = fit_polynomial(samples, targets, ridge);
    EXPECT_NEAR(model.weights[0], 4 * std::sqrt(5) / 8, 1e-12);
    EXPECT_NEAR(model.intercept, 4, 1e-12);
}

TEST(Polynomial, ShrinksWithFewerRowsThanColumns) {
    // Two rows, one column given three times: z = (-1, 1), y - 1 = (-1, 1). By symmetry all weights are w, which makes
    // sum (z - 3 w z)^2 + 3 alpha w^2 least: 3 (2 - 6 w) = 3 alpha w, so w = 2 / (6 + alpha).
    Samples thrice(2, 3);
    thrice.set_row(0, std::vector{3.0F, 3.0F, 3.0F});
    thrice.set_row(1, std::vector{5.0F, 5.0F, 5.0F});
    LinearSettings ridge;
    ridge.alpha = 4;
    const auto model = fit_polynomial(thrice, std::vector<double>{0, 2}, ridge);
    for (const double weight : model.weights) EXPECT_NEAR(weight, 0.2, 1e-12);
    EXPECT_NEAR(model.intercept, 1, 1e-12);
    // One row says nothing of any weight.
    Samples once(1, 3);
    once.set_row(0, std::vector{3.0F, 4.0F, 5.0F});
    EXPECT_NEAR(predict(fit_polynomial(once, std::vector<double>{7}, ridge), std::vector{9.0F, 9.0F, 9.0F}), 7, 1e-12);
}

TEST(Polynomial, FindsProductsOfTwoColumns) {
    const auto truth = [](const std::vector<float>& x) {
        return plane(x) + 1.5 * static_cast<double>(x[0]) * static_cast<double>(x[1]) +
               0.5 * static_cast<double>(x[0]) * static_cast<double>(x[0]);
    };
    const Table t = table(500, 2, truth);
    LinearSettings squares;
    squares.alpha = 0;
    squares.factors = 2;
    const auto model = fit_polynomial(t.samples, t.targets, squares);
    ASSERT_EQ(model.product_weights.size(), 3U);
    for (const auto& x : {std::vector{2.0F, 2.0F}, std::vector{-1.0F, 0.5F}}) {
        EXPECT_NEAR(predict(model, x), truth(x), 1e-9);
    }
}

TEST(Polynomial, MultipliesTheColumnsThatMatter) {
    const Table t = table(500, 6, [](const std::vector<float>& x) {
        return static_cast<double>(x[1]) + static_cast<double>(x[4]) +
               static_cast<double>(x[1]) * static_cast<double>(x[4]);
    });
    LinearSettings squares;
    squares.factors = 2;
    EXPECT_EQ(fit_polynomial(t.samples, t.targets, squares).factors, (std::vector<std::uint32_t>{1, 4}));
}

TEST(Polynomial, ChoosesAPenaltyThatFitsTheNoise) {
    // Targets that are nothing but noise: the largest penalty forecasts new rows best. A plane without noise: the
    // least.
    Random random(9);
    const Table noise = table(60, 20, [&](const std::vector<float>&) { return random.uniform() - 0.5; });
    double size = 0;
    for (const double weight : fit_polynomial(noise.samples, noise.targets, {}).weights) size += std::abs(weight);
    LinearSettings hardly;
    hardly.alpha = 1e-3;
    double free_size = 0;
    for (const double weight : fit_polynomial(noise.samples, noise.targets, hardly).weights)
        free_size += std::abs(weight);
    EXPECT_LT(size, 0.3 * free_size);
    const Table exact = table(60, 3, plane);
    const auto model = fit_polynomial(exact.samples, exact.targets, {});
    EXPECT_NEAR(predict(model, std::vector{1.0F, 1.0F, 1.0F}), 4, 1e-3);
}

TEST(Polynomial, RefusesAPenaltyBelowZero) {
    LinearSettings settings;
    settings.alpha = -1;
    EXPECT_THROW(fit_polynomial(Samples(3, 1), std::vector<double>{1, 2, 3}, settings), Error);
}

TEST(CheckPolynomial, WantsAWeightForEveryTerm) {
    const Table t = table(30, 3, plane);
    LinearSettings squares;
    squares.factors = 2;
    const auto good = fit_polynomial(t.samples, t.targets, squares);
    EXPECT_NO_THROW(check(good, 3));
    EXPECT_THROW(check(good, 4), FormatError);
    const auto broken = [&](auto change) {
        Polynomial model = good;
        change(model);
        EXPECT_THROW(check(model, 3), FormatError);
    };
    broken([](Polynomial& m) { m.weights.pop_back(); });
    broken([](Polynomial& m) { m.product_weights.pop_back(); });
    broken([](Polynomial& m) { m.factors[1] = 3; });
    broken([](Polynomial& m) { m.intercept = std::nan(""); });
}

}  // namespace
}  // namespace joulecast
