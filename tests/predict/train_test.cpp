#include "joulecast/predict/train.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"
#include "joulecast/predict/calibrate_networks.h"
#include "joulecast/predict/jcp.h"
#include "tests/predict/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

TEST(OperationGroup, JoinsModesAndTypesOfOneShape) {
    const auto group = [](const char* text) { return operation_group(parse_operation(text)); };
    EXPECT_EQ(group("aten::relu(self=bf16[8]~)"), group("aten::relu(self=f32[8])"));
    EXPECT_NE(group("aten::relu(self=f32[8])"), group("aten::relu(self=f32[9])"));
    EXPECT_NE(group("aten::embedding(weight=f32[9,4], indices=i64[3])"),
              group("aten::embedding(weight=f32[9,4], indices=i32[3])"));
}

TEST(TrainingRows, TakeTheMostFrequentSettingAndUsableRowsOnly) {
    std::vector<OperationRow> rows = testing::synthetic_rows({synthetic_graph("alexnet", 2)});
    const std::size_t all = rows.size();
    rows[0].measurement.real.threads = 1;
    rows[1].measurement.outcome = Outcome::crashed;
    rows[2].measurement.time.median_s = std::nan("");
    OperatingPoint setting;
    EXPECT_EQ(training_rows(rows, testing::synthetic_cpu(), setting).size(), all - 3);
    EXPECT_EQ(setting.threads, 2);
    EXPECT_THROW(training_rows({}, testing::synthetic_cpu(), setting), Error);
}

TEST(Train, IsTheSameFileEveryTime) {
    const auto rows = testing::synthetic_training({synthetic_graph("resnet18", 2)});
    const auto file = [&](unsigned threads) {
        TrainSettings settings;
        settings.trees = 4;
        settings.threads = threads;
        Predictor p;
        for (const Feature* feature : all_columns()) p.features.emplace_back(feature->name);
        p.devices.push_back(train_device(testing::synthetic_cpu(), testing::synthetic_point(), rows, {}, settings));
        return to_jcp(p);
    };
    EXPECT_EQ(file(1), file(3));
}

TEST(Train, FindsTheLawBehindTheTimes) {
    const auto rows = testing::synthetic_training({synthetic_graph("resnet50", 2), synthetic_graph("resnet18", 2)});
    TrainSettings settings;
    settings.trees = 5;
    const auto device = train_device(testing::synthetic_cpu(), testing::synthetic_point(), rows, {}, settings);
    const Law* law = find_law(device, parse_operation("aten::conv2d(input=f32[1,8,9,9], weight=f32[4,8,3,3])"));
    ASSERT_NE(law, nullptr);
    EXPECT_NEAR(law->flop_factor, 2.0, 0.15);  // synthetic_seconds: twice the data sheet's arithmetic time
}

NetworkResidual residual(const std::string& model, double log_ratio, double own = 0) {
    return {model, "inference|fp32", log_ratio, own};
}

TEST(CorrectionFactor, IsPulledToOneByTheWeightOfTwoModels) {
    EXPECT_DOUBLE_EQ(correction_factor({}), 1);
    // Two models that say log 0.2: sum 0.4 over 2 + 2.
    const std::vector<NetworkResidual> two{residual("a", 0.2), residual("b", 0.2)};
    EXPECT_DOUBLE_EQ(correction_factor(two), std::exp(0.1));
    // Batches of one model are one voice: a's mean is 0.2, still 0.4 / 4.
    const std::vector<NetworkResidual> batches{residual("a", 0.1), residual("a", 0.3), residual("b", 0.2)};
    EXPECT_NEAR(correction_factor(batches), std::exp(0.1), 1e-12);
}

TEST(SystematicSigma, CoversTheErrorsOfHeldOutNetworks) {
    std::vector<NetworkResidual> residuals;
    for (int i = 0; i < 10; ++i) residuals.push_back(residual(std::to_string(i), i % 2 == 0 ? 0.3 : -0.3));
    // The others' correction is near 1 (nine models of +-0.3, pulled to 1), so |error| is 0.3 to 0.33; the 10th of 10
    // scores must be at most 1.645: sigma = 0.327 / 1.645.
    const double others = 0.3 / 11;  // five against four of 0.3 over 9 + 2 models
    EXPECT_NEAR(systematic_sigma(residuals), (0.3 + others) / 1.645, 1e-6);
}

TEST(SystematicSigma, IsCautiousBeforeNetworksWereMeasured) {
    EXPECT_EQ(systematic_sigma({}), 0.12);
    EXPECT_EQ(systematic_sigma(std::vector{residual("a", 0), residual("b", 0)}), 0.12);
}

TEST(SystematicSigma, AddsNothingToIntervalsThatAreWideEnough) {
    std::vector<NetworkResidual> residuals;
    for (int i = 0; i < 10; ++i) residuals.push_back(residual(std::to_string(i), 0.01, 0.5));
    EXPECT_EQ(systematic_sigma(residuals), 0);
}

}  // namespace
}  // namespace joulecast
