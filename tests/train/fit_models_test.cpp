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

}  // namespace
}  // namespace joulecast
