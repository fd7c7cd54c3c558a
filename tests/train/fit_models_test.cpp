#include "joulecast/train/fit_models.h"

#include <gtest/gtest.h>

#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

std::vector<TrainingRow> repeated(const std::vector<TrainingRow>& rows, std::size_t count) {
    return std::vector<TrainingRow>(count, rows.front());
}

TEST(SampledParts, AreThoseOfLearnersThatCompareAllRows) {
    const std::vector<OperationRow> measured{testing::synthetic_row(parse_operation("aten::relu(self=f32[64])"))};
    OperatingPoint setting;
    const auto one = training_rows(measured, testing::synthetic_cpu(), setting);
    const std::vector learners{Learner::extra_trees, Learner::svr};
    EXPECT_TRUE(sampled_parts(repeated(one, 10000), learners).empty());
    const auto sampled = sampled_parts(repeated(one, 10001), learners);
    ASSERT_EQ(sampled.size(), 2U);  // time and memory; nobody measured power
    for (const SampledPart& part : sampled) {
        EXPECT_EQ(part.learner, Learner::svr);
        EXPECT_EQ(part.family, Family::elementwise);
        EXPECT_EQ(part.rows, 10001U);
        EXPECT_EQ(part.learned, 10000U);
    }
    EXPECT_EQ(sampled[0].metric, Metric::time);
    EXPECT_EQ(sampled[1].metric, Metric::peak_memory);
}

TEST(FitModels, KeepsLawsThatAreFittedAlready) {
    const auto rows = testing::synthetic_training({testing::synthetic_graph("resnet18", 2)});
    std::vector<const TrainingRow*> all;
    for (const TrainingRow& row : rows) all.push_back(&row);
    DeviceModel frame;
    frame.device = testing::synthetic_cpu();
    TrainSettings settings;
    settings.trees = 2;
    const DeviceModel fitted = fit_models(frame, all, Learner::extra_trees, settings);
    const DeviceModel laws = fit_laws_alone(frame, all);
    EXPECT_EQ(fitted.laws, laws.laws);
    EXPECT_EQ(fitted.call_overhead_s, laws.call_overhead_s);
    EXPECT_TRUE(laws.models.empty());
    DeviceModel changed = laws;
    changed.laws.front().law.floor_s *= 2;
    EXPECT_EQ(fit_models(changed, all, Learner::extra_trees, settings).laws, changed.laws);
}

/// The law of such calls, fitted to rows that take as long as the device's own says.
Law law_of(const std::string& operation, const std::vector<std::string>& measured) {
    std::vector<OperationRow> rows;
    for (const std::string& text : measured) rows.push_back(testing::synthetic_row(parse_operation(text)));
    OperatingPoint setting;
    const auto prepared = training_rows(rows, testing::synthetic_cpu(), setting);
    std::vector<const TrainingRow*> all;
    for (const TrainingRow& row : prepared) all.push_back(&row);
    DeviceModel frame;
    frame.device = testing::synthetic_cpu();
    return *find_law(fit_laws_alone(frame, all), parse_operation(operation));
}

std::string linear(int rows, int width) {
    const std::string inner = std::to_string(width);
    return "aten::linear(input=f32[" + std::to_string(rows) + "," + inner + "], weight=f32[" + inner + "," + inner +
           "])";
}

// Convolutional networks end in linear layers of one row, whose weights are all that takes time: who measured those
// alone was told BERT 2.8 times too short on a CPU, and 17 times under TVM.
TEST(FitModels, TakesTheArithmeticThatNoProductTellsFromTheOthers) {
    std::vector<std::string> of_one_row, convolutions;
    for (const int width : {256, 512, 768, 1024, 1536, 2048, 2560, 3072, 4096, 5120, 6144, 8192})
        of_one_row.push_back(linear(1, width));
    for (const int channels : {32, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512}) {
        const std::string c = std::to_string(channels);
        convolutions.push_back("aten::conv2d(input=f32[1," + c + ",28,28], weight=f32[" + c + "," + c +
                               ",3,3], padding=[1,1])");
    }
    // Nothing tells: the data sheet's own.
    EXPECT_NEAR(law_of(linear(64, 1024), of_one_row).flop_factor, 1, 0.1);
    std::vector<std::string> both = of_one_row;
    both.insert(both.end(), convolutions.begin(), convolutions.end());
    const Law by_others = law_of(linear(64, 1024), both);
    EXPECT_NEAR(by_others.flop_factor, 2, 0.1);  // the device's
    EXPECT_NEAR(by_others.byte_factor, 1.5, 0.1);
    // Its own, where it has rows that tell.
    for (const int rows : {64, 128, 256, 512}) both.push_back(linear(rows, 1024));
    EXPECT_NEAR(law_of(linear(64, 1024), both).flop_factor, 2, 0.1);
    // No more than what was measured leaves room for.
    EXPECT_LT(seconds(by_others, roofline(parse_operation(linear(1, 1024)), testing::synthetic_cpu())),
              1.1 * testing::synthetic_seconds(parse_operation(linear(1, 1024))));
}

}  // namespace
}  // namespace joulecast
