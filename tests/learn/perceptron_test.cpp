#include "joulecast/learn/perceptron.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

std::vector<double> uniforms(std::size_t count, std::uint64_t seed) {
    std::vector<double> values(count);
    Random random(seed);
    for (double& value : values) value = 2 * random.uniform() - 1;
    return values;
}

TEST(PerceptronLoss, HasTheGradientOfFiniteDifferences) {
    const std::vector<std::size_t> units{3, 5, 4, 1};
    const std::size_t parameters = (3 + 1) * 5 + (5 + 1) * 4 + (4 + 1) * 1;
    const auto rows = uniforms(3 * 7, 1);
    const auto targets = uniforms(7, 2);
    auto at = uniforms(parameters, 3);
    const auto exact = perceptron_loss(units, at, rows, targets, 0.3);
    ASSERT_EQ(exact.gradient.size(), parameters);
    constexpr double step = 1e-6;
    for (std::size_t i = 0; i < parameters; ++i) {
        const double middle = at[i];
        at[i] = middle + step;
        const double above = perceptron_loss(units, at, rows, targets, 0.3).loss;
        at[i] = middle - step;
        const double below = perceptron_loss(units, at, rows, targets, 0.3).loss;
        at[i] = middle;
        EXPECT_NEAR(exact.gradient[i], (above - below) / (2 * step), 1e-8) << i;
    }
}

TEST(PerceptronLoss, IsHalfTheMeanSquareAndThePenalty) {
    // One weight 2 and bias 1 on rows 1 and 2: it says 3 and 5. Against 3 and 1: 16 / 2 / 2, and 0.5 * 4 / 2 rows / 2.
    const auto loss = perceptron_loss(std::vector<std::size_t>{1, 1}, std::vector<double>{2, 1},
                                      std::vector<double>{1, 2}, std::vector<double>{3, 1}, 0.5);
    EXPECT_DOUBLE_EQ(loss.loss, 4 + 0.5);
}

struct Table {
    Samples samples{600, 2};
    std::vector<double> targets;
};

Table waves() {
    Table table;
    Random random(2);
    for (std::size_t i = 0; i < 600; ++i) {
        const double a = 3 * random.uniform();
        const double b = random.uniform();
        table.samples.set_row(i, std::vector{static_cast<float>(a), static_cast<float>(b)});
        table.targets.push_back(100 + 10 * (std::sin(2 * a) + b));
    }
    return table;
}

PerceptronSettings small() {
    PerceptronSettings settings;
    settings.hidden = {16};
    settings.batch = 50;
    settings.learning_rate = 1e-2;
    settings.epochs = 60;
    return settings;
}

double squared_error(const Perceptron& model, const Table& table) {
    double sum = 0;
    for (std::size_t i = 0; i < 600; ++i) {
        const double said = predict(model, std::vector{table.samples.at(i, 0), table.samples.at(i, 1)});
        sum += (said - table.targets[i]) * (said - table.targets[i]);
    }
    return sum / 600;
}

TEST(Perceptron, FindsTheFunction) {
    const Table table = waves();
    const Perceptron model = fit_perceptron(table.samples, table.targets, small());
    EXPECT_NO_THROW(check(model, 2));
    EXPECT_LT(squared_error(model, table), 2.0);  // the targets' variance is about 60
}

TEST(Perceptron, IsTheSameFromTheSameSeed) {
    const Table table = waves();
    PerceptronSettings settings = small();
    settings.epochs = 3;
    const Perceptron one = fit_perceptron(table.samples, table.targets, settings);
    EXPECT_EQ(one, fit_perceptron(table.samples, table.targets, settings));
    settings.seed = 2;
    EXPECT_NE(one, fit_perceptron(table.samples, table.targets, settings));
}

TEST(Perceptron, TrainsOnAllRowsWhereNoneIsHeldOut) {
    const Table table = waves();
    PerceptronSettings settings = small();
    settings.held_out = 0;
    EXPECT_LT(squared_error(fit_perceptron(table.samples, table.targets, settings), table), 2.0);
    settings.held_out = 0.1;
    settings.groups.assign(600, 4);  // one group cannot be parted
    EXPECT_LT(squared_error(fit_perceptron(table.samples, table.targets, settings), table), 2.0);
}

TEST(Perceptron, PassesOnlyWhatIsAboveZeroBetweenLayers) {
    // One input of mean 0 and scale 1, two units x and -x, summed: |x|. Targets in units of 2 about 10.
    Perceptron model;
    model.inputs.means = {0};
    model.inputs.scales = {1};
    model.target = {10, 2};
    model.layers = {{1, 2, {1, -1}, {0, 0}}, {2, 1, {1, 1}, {0.5F}}};
    EXPECT_NO_THROW(check(model, 1));
    EXPECT_EQ(predict(model, std::vector{3.0F}), 10 + 2 * 3.5);
    EXPECT_EQ(predict(model, std::vector{-3.0F}), 10 + 2 * 3.5);
}

TEST(Perceptron, RefusesLayersWithoutUnits) {
    PerceptronSettings settings = small();
    settings.hidden = {4, 0};
    EXPECT_THROW(fit_perceptron(waves().samples, waves().targets, settings), Error);
}

TEST(CheckPerceptron, WantsLayersThatFit) {
    PerceptronSettings settings = small();
    settings.epochs = 1;
    const Perceptron good = fit_perceptron(waves().samples, waves().targets, settings);
    const auto broken = [&](auto change) {
        Perceptron model = good;
        change(model);
        EXPECT_THROW(check(model, 2), FormatError);
    };
    broken([](Perceptron& m) { m.layers.pop_back(); });
    broken([](Perceptron& m) { m.layers.clear(); });
    broken([](Perceptron& m) { m.layers[0].inputs = 3; });
    broken([](Perceptron& m) { m.layers[0].weights.pop_back(); });
    broken([](Perceptron& m) { m.layers[1].biases[0] = std::nanf(""); });
    broken([](Perceptron& m) { m.layers[0].weights[0] = std::nanf(""); });
}

}  // namespace
}  // namespace joulecast
