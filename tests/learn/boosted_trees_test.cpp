#include "joulecast/learn/boosted_trees.h"

#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

struct Table {
    Samples samples;
    std::vector<double> targets;
};

/// A smooth function of two columns and a step of a third; values are few, so that many lie on thresholds.
Table rows(std::size_t count) {
    Table table{Samples(count, 3), {}};
    Random random(5);
    for (std::size_t i = 0; i < count; ++i) {
        const double a = static_cast<double>(random.below(50)) / 10;
        const double b = random.uniform();
        const double c = static_cast<double>(random.below(2));
        table.samples.set_row(i, std::vector{static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)});
        table.targets.push_back(std::sin(a) + b * b + 2 * c + 10);
    }
    return table;
}

/// XGBoost asked directly: the oracle.
class Asked {
  public:
    Asked(const Table& table, const std::map<std::string, std::string>& parameters)
        : columns_(table.samples.columns()) {
        std::vector<float> labels(table.targets.begin(), table.targets.end());
        matrix_ = matrix_of(table.samples);
        XGDMatrixSetFloatInfo(matrix_, "label", labels.data(), labels.size());
        XGBoosterCreate(&matrix_, 1, &booster_);
        for (const auto& [name, value] : parameters) XGBoosterSetParam(booster_, name.c_str(), value.c_str());
        for (int round = 0; round < 30; ++round) XGBoosterUpdateOneIter(booster_, round, matrix_);
    }
    ~Asked() {
        XGBoosterFree(booster_);
        XGDMatrixFree(matrix_);
    }
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

    BoostedTrees converted() const {
        bst_ulong size = 0;
        const char* data = nullptr;
        EXPECT_EQ(XGBoosterSaveModelToBuffer(booster_, R"({"format":"ubj"})", &size, &data), 0);
        return from_xgboost(std::as_bytes(std::span(data, size)));
    }
    std::vector<float> predictions(const Samples& samples) const {
        DMatrixHandle asked = matrix_of(samples);
        bst_ulong size = 0;
        const float* values = nullptr;
        EXPECT_EQ(XGBoosterPredict(booster_, asked, 0, 0, 0, &size, &values), 0);
        std::vector<float> copied(values, values + size);
        XGDMatrixFree(asked);
        return copied;
    }

  private:
    DMatrixHandle matrix_of(const Samples& samples) const {
        std::vector<float> values;
        for (std::size_t row = 0; row < samples.rows(); ++row) {
            for (std::size_t column = 0; column < columns_; ++column) values.push_back(samples.at(row, column));
        }
        DMatrixHandle handle = nullptr;
        XGDMatrixCreateFromMat(values.data(), samples.rows(), columns_, missing, &handle);
        return handle;
    }

    std::size_t columns_;
    DMatrixHandle matrix_ = nullptr;
    BoosterHandle booster_ = nullptr;
};

TEST(BoostedTrees, ForecastWhatXgboostForecasts) {
    const Table table = rows(400);
    const std::vector<std::map<std::string, std::string>> ways = {
        {{"tree_method", "exact"}, {"max_depth", "4"}},
        {{"tree_method", "hist"}, {"max_depth", "6"}, {"base_score", "7.5"}},
        {{"tree_method", "hist"}, {"grow_policy", "lossguide"}, {"max_leaves", "31"}, {"max_depth", "0"}},
        {{"tree_method", "approx"}, {"subsample", "0.7"}, {"colsample_bytree", "0.7"}},
    };
    for (const auto& way : ways) {
        const Asked xgboost(table, way);
        const BoostedTrees ours = xgboost.converted();
        EXPECT_NO_THROW(check(ours, 3));
        ASSERT_EQ(ours.forest.roots.size(), 30U);
        const auto theirs = xgboost.predictions(table.samples);
        for (std::size_t i = 0; i < table.samples.rows(); ++i) {
            // Theirs is a sum in float32.
            EXPECT_NEAR(predict(ours, table.samples.row(i)) / static_cast<double>(theirs[i]), 1, 1e-6) << i;
        }
    }
}

TEST(BoostedTrees, PartAtAThresholdAsXgboostDoes) {
    // One split of four rows: XGBoost sends x < t left. Asked at the threshold itself and the float32 below it.
    Table table{Samples(4, 1), {0, 0, 8, 8}};
    for (std::size_t i = 0; i < 4; ++i) table.samples.set(i, 0, static_cast<float>(i + 1));
    const Asked xgboost(table, {{"tree_method", "exact"}, {"max_depth", "1"}, {"min_child_weight", "0"}});
    const BoostedTrees ours = xgboost.converted();
    const float below = ours.forest.nodes[0].value;
    const float threshold = std::nextafter(below, 10.0F);
    Samples asked(2, 1);
    asked.set(0, 0, below);
    asked.set(1, 0, threshold);
    const auto theirs = xgboost.predictions(asked);
    EXPECT_NE(theirs[0], theirs[1]);
    EXPECT_NEAR(predict(ours, std::vector{below}), static_cast<double>(theirs[0]), 1e-5);
    EXPECT_NEAR(predict(ours, std::vector{threshold}), static_cast<double>(theirs[1]), 1e-5);
}

TEST(FitBoosted, FindsTheFunction) {
    const Table table = rows(1000);
    for (const bool exact : {true, false}) {
        BoostSettings settings;
        settings.exact = exact;
        const auto model = fit_boosted(table.samples, table.targets, settings);
        EXPECT_EQ(model, fit_boosted(table.samples, table.targets, settings));
        for (const float a : {0.55F, 2.05F, 4.05F}) {
            EXPECT_NEAR(predict(model, std::vector{a, 0.5F, 1.0F}), std::sin(static_cast<double>(a)) + 12.25, 0.1);
        }
    }
}

TEST(FitBoosted, IsTheSameBesideColumnsThatSayNothing) {
    // The columns of rows() at 1, 3 and 4 of six; 0 is the same number everywhere, 2 and 5 are missing everywhere.
    const Table table = rows(300);
    const std::vector<std::size_t> places{1, 3, 4};
    Samples wide(300, 6);
    for (std::size_t i = 0; i < 300; ++i) {
        wide.set_row(i, std::vector{7.0F, 0.0F, missing, 0.0F, 0.0F, missing});
        for (std::size_t c = 0; c < 3; ++c) wide.set(i, places[c], table.samples.at(i, c));
    }
    BoostSettings settings;
    settings.monotone = {1, 0, -1};
    BoostedTrees expected = fit_boosted(table.samples, table.targets, settings);
    for (ForestNode& node : expected.forest.nodes) {
        if (node.feature >= 0) node.feature = static_cast<std::int32_t>(places[static_cast<std::size_t>(node.feature)]);
    }
    settings.monotone = {-1, 1, 1, 0, -1, 0};
    EXPECT_EQ(fit_boosted(wide, table.targets, settings), expected);
    // Nothing to part rows by: the mean.
    EXPECT_NEAR(predict(fit_boosted(Samples(300, 2), table.targets, {}), std::vector{0.0F, 0.0F}),
                std::accumulate(table.targets.begin(), table.targets.end(), 0.0) / 300, 1e-4);
}

TEST(FitBoosted, SendsMissingValuesToTheRight) {
    // Target 1 where the value is missing, 0 where it is not, whatever it is.
    Samples samples(200, 1);
    std::vector<double> targets;
    for (std::size_t i = 0; i < 200; ++i) {
        samples.set(i, 0, i % 2 == 0 ? missing : static_cast<float>(i));
        targets.push_back(i % 2 == 0 ? 1 : 0);
    }
    for (const bool exact : {true, false}) {
        BoostSettings settings;
        settings.exact = exact;
        settings.max_bin = 128;  // more than the 101 different values
        const auto model = fit_boosted(samples, targets, settings);
        EXPECT_NEAR(predict(model, std::vector{missing}), 1, 0.01) << exact;
        EXPECT_NEAR(predict(model, std::vector{199.0F}), 0, 0.01) << exact;
        EXPECT_NEAR(predict(model, std::vector{1e6F}), 0, 0.01) << exact;
    }
}

TEST(FitBoosted, KeepsToMonotoneConstraints) {
    // Falls with the column, so a model that must not fall is flat.
    Samples samples(100, 1);
    std::vector<double> targets;
    for (std::size_t i = 0; i < 100; ++i) {
        samples.set(i, 0, static_cast<float>(i));
        targets.push_back(-static_cast<double>(i));
    }
    BoostSettings settings;
    settings.monotone = {1};
    const auto rising = fit_boosted(samples, targets, settings);
    EXPECT_NEAR(predict(rising, std::vector{0.0F}), predict(rising, std::vector{99.0F}), 1e-3);
    settings.monotone = {-1};
    const auto falling = fit_boosted(samples, targets, settings);
    EXPECT_GT(predict(falling, std::vector{0.0F}) - predict(falling, std::vector{99.0F}), 90);
    settings.monotone = {1, 0};
    EXPECT_THROW(fit_boosted(samples, targets, settings), Error);
}

TEST(FitBoosted, StopsAtMaxLeaves) {
    const Table table = rows(500);
    BoostSettings settings;
    settings.rounds = 1;
    settings.max_leaves = 5;
    settings.max_depth = 0;
    EXPECT_EQ(fit_boosted(table.samples, table.targets, settings).forest.nodes.size(), 9U);  // 5 leaves, 4 splits
}

TEST(FitBoosted, SaysWhatXgboostRefuses) {
    const Table table = rows(20);
    BoostSettings settings;
    settings.learning_rate = -1;
    EXPECT_THROW(fit_boosted(table.samples, table.targets, settings), Error);
}

TEST(FromXgboost, RefusesWhatIsNoModel) {
    const std::string text = "{}";
    EXPECT_THROW(from_xgboost(std::as_bytes(std::span(text))), FormatError);
    EXPECT_THROW(from_xgboost({}), FormatError);
}

/// A model of one tree: below 2 in the first column it says 1, else 3.
nlohmann::json stump() {
    return nlohmann::json::parse(R"({"learner": {
        "objective": {"name": "reg:squarederror"}, "learner_model_param": {"base_score": "5E-1"},
        "gradient_booster": {"model": {"trees": [{"left_children": [1, -1, -1], "right_children": [2, -1, -1],
            "split_indices": [0, 0, 0], "split_conditions": [2, 1, 3]}]}}}})");
}

BoostedTrees read(const nlohmann::json& model) {
    const std::vector<std::uint8_t> bytes = nlohmann::json::to_ubjson(model);
    return from_xgboost(std::as_bytes(std::span(bytes)));
}

TEST(FromXgboost, RefusesNumbersThatCannotBe) {
    EXPECT_EQ(predict(read(stump()), std::vector{1.5F}), 1.5);
    EXPECT_EQ(predict(read(stump()), std::vector{2.0F}), 3.5);
    nlohmann::json model = stump();
    for (const char* score : {"", "half", "5E-1 ", "[5E-1]"}) {
        model["learner"]["learner_model_param"]["base_score"] = score;
        EXPECT_THROW(read(model), FormatError) << score;
    }
    model = stump();
    auto& tree = model["learner"]["gradient_booster"]["model"]["trees"][0];
    tree["split_indices"][0] = -1;
    EXPECT_THROW(read(model), FormatError);
    tree = stump()["learner"]["gradient_booster"]["model"]["trees"][0];
    tree["left_children"][0] = 0;
    EXPECT_THROW(read(model), FormatError);
}

}  // namespace
}  // namespace joulecast
