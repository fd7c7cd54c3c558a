#include "joulecast/learn/support_vectors.h"

#include <gtest/gtest.h>
#include <libsvm/svm.h>

#include <cmath>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

struct Table {
    Samples samples{200, 2};
    std::vector<double> targets;
};

Table waves() {
    Table table;
    Random random(2);
    for (std::size_t i = 0; i < 200; ++i) {
        const double a = 3 * random.uniform();
        const double b = random.uniform();
        table.samples.set_row(i, std::vector{static_cast<float>(a), static_cast<float>(b)});
        table.targets.push_back(std::sin(2 * a) + b);
    }
    return table;
}

std::vector<svm_node> nodes(const std::vector<float>& point) {
    std::vector<svm_node> list;
    for (std::size_t i = 0; i < point.size(); ++i)
        list.push_back({static_cast<int>(i + 1), static_cast<double>(point[i])});
    list.push_back({-1, 0});
    return list;
}

std::vector<float> row(const Samples& samples, std::size_t i) {
    return {samples.at(i, 0), samples.at(i, 1)};
}

TEST(SupportVectors, ForecastWhatLibsvmForecasts) {
    const Table table = waves();
    VectorSettings settings;
    settings.C = 3;
    settings.epsilon = 0.05;
    const SupportVectors ours = fit_support_vectors(table.samples, table.targets, settings);
    // The same rows to libsvm by hand.
    std::vector<std::vector<svm_node>> rows;
    std::vector<svm_node*> starts;
    std::vector<double> targets;
    for (std::size_t i = 0; i < 200; ++i) {
        rows.push_back(nodes(prepared_short(ours.inputs, row(table.samples, i))));
        targets.push_back((table.targets[i] - ours.target.mean) / ours.target.scale);
    }
    for (auto& one : rows) starts.push_back(one.data());
    const svm_problem problem{200, targets.data(), starts.data()};
    svm_parameter parameter{};
    parameter.svm_type = EPSILON_SVR;
    parameter.kernel_type = RBF;
    parameter.gamma = ours.gamma;
    parameter.C = 3;
    parameter.p = 0.05;
    parameter.eps = 1e-3;
    parameter.cache_size = 200;
    parameter.shrinking = 1;
    svm_model* model = svm_train(&problem, &parameter);
    ASSERT_EQ(static_cast<std::size_t>(model->l), ours.coefficients.size());
    for (const auto& asked : {std::vector{0.1F, 0.2F}, std::vector{2.9F, 0.9F}, std::vector{50.0F, -3.0F}}) {
        const double theirs = svm_predict(model, nodes(prepared_short(ours.inputs, asked)).data());
        EXPECT_NEAR(predict(ours, asked), ours.target.mean + ours.target.scale * theirs, 1e-9);
    }
    svm_free_and_destroy_model(&model);
}

TEST(SupportVectors, StayWithinEpsilonWhereTheyCan) {
    const Table table = waves();
    VectorSettings settings;
    settings.C = 1000;
    settings.epsilon = 0.1;
    const SupportVectors model = fit_support_vectors(table.samples, table.targets, settings);
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_NEAR(predict(model, row(table.samples, i)), table.targets[i], 0.101 * model.target.scale + 0.002);
    }
    EXPECT_LT(model.coefficients.size(), 150U);  // rows inside of the tube support nothing
}

TEST(SupportVectors, SetGammaFromTheSpreadOfTheColumns) {
    // Standardised columns have variance 1 and mean 0: 1 / (2 columns * 1).
    EXPECT_NEAR(fit_support_vectors(waves().samples, waves().targets, {}).gamma, 0.5, 1e-6);
}

TEST(SupportVectors, AreTheMeanOfTargetsThatAreAllAlike) {
    const Table table = waves();
    const auto model = fit_support_vectors(table.samples, std::vector<double>(200, 7), {});
    EXPECT_NEAR(predict(model, std::vector{1.0F, 1.0F}), 7, 1e-9);
    EXPECT_NO_THROW(check(model, 2));
}

TEST(SupportVectors, SayWhatLibsvmRefuses) {
    VectorSettings settings;
    settings.C = -1;
    EXPECT_THROW(fit_support_vectors(waves().samples, waves().targets, settings), Error);
}

TEST(CheckSupportVectors, WantsACoefficientForEveryVector) {
    const auto good = fit_support_vectors(waves().samples, waves().targets, {});
    EXPECT_NO_THROW(check(good, 2));
    const auto broken = [&](auto change) {
        SupportVectors model = good;
        change(model);
        EXPECT_THROW(check(model, 2), FormatError);
    };
    broken([](SupportVectors& m) { m.coefficients.pop_back(); });
    broken([](SupportVectors& m) { m.gamma = -1; });
    broken([](SupportVectors& m) { m.offset = std::nan(""); });
    broken([](SupportVectors& m) { m.points[0] = std::nanf(""); });
    broken([](SupportVectors& m) { m.target.mean = std::nan(""); });
}

}  // namespace
}  // namespace joulecast
