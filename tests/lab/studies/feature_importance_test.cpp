#include "lab/studies/feature_importance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "joulecast/learn/random.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

/// Multiplies the times of operations whose inputs have more than 100 channels by five: law and roofline know nothing
/// of it, so a model has to learn it from the feature "c".
std::vector<TrainingRow> rows_with_a_secret() {
    auto rows = testing::synthetic_training({testing::synthetic_graph("resnet50", 2),
                                             testing::synthetic_graph("mobilenet_v2", 2),
                                             testing::synthetic_graph("efficientnet_b0", 2)});
    for (TrainingRow& row : rows) {
        const auto all = tensors(row.operation.operation);
        if (!all.empty() && all.front()->sizes.size() == 4 && all.front()->sizes[1] > 100) row.time_s *= 5;
    }
    return rows;
}

ImportanceSettings quick() {
    ImportanceSettings settings;
    settings.folds = 3;
    settings.repeats = 2;
    settings.training.trees = 10;
    return settings;
}

TEST(FeatureImportance, FindsTheFeatureThatDecides) {
    const auto lines =
        feature_importance(testing::synthetic_cpu(), testing::synthetic_point(), rows_with_a_secret(), quick());
    std::map<std::string, double> convolution;
    double before = HUGE_VAL;
    for (const FeatureImportance& line : lines) {
        if (line.family != Family::convolution || line.metric != Metric::time) continue;
        EXPECT_LE(line.increase, before) << "sorted";
        before = line.increase;
        convolution[line.feature] = line.increase;
        EXPECT_GT(line.rows, 50);
        EXPECT_GT(line.error, 0);
    }
    ASSERT_TRUE(convolution.contains("c"));
    std::vector<double> all;
    for (const auto& [feature, increase] : convolution) all.push_back(increase);
    std::sort(all.begin(), all.end());
    EXPECT_GE(convolution["c"], all[all.size() - 6]) << "among the first, with those that follow from it";
    EXPECT_GT(convolution["c"], 0.02);
    EXPECT_FALSE(convolution.contains("threads")) << "the same everywhere: shuffling it would change nothing";
}

TEST(AugmentationEffect, IsAbsentWhereNetworksCallEverything) {
    const auto rows = testing::synthetic_training({testing::synthetic_graph("resnet18", 2)});
    EXPECT_TRUE(augmentation_effect(testing::synthetic_cpu(), testing::synthetic_point(), rows,
                                    std::vector<bool>(rows.size(), true), {})
                    .empty());
}

TEST(AugmentationEffect, TestsTheRowsOfNetworksAlone) {
    const auto rows = testing::synthetic_training(
        {testing::synthetic_graph("resnet18", 2), testing::synthetic_graph("mobilenet_v2", 2)});
    std::set<std::string> groups;
    for (const CountedOperation& counted : count_operations(testing::synthetic_graph("resnet18", 2)))
        groups.insert(operation_group(counted.operation));
    std::vector<bool> of_resnet18;
    for (const TrainingRow& row : rows) of_resnet18.push_back(groups.contains(row.group));
    ValidationSettings settings;
    settings.folds = 3;
    settings.training.learner = Learner::extra_trees;
    settings.training.trees = 4;
    settings.training.folds = 2;
    std::map<bool, AugmentationEffect> time;
    for (const auto& effect :
         augmentation_effect(testing::synthetic_cpu(), testing::synthetic_point(), rows, of_resnet18, settings)) {
        if (effect.accuracy.metric == "time_s") time[effect.with_others] = effect;
    }
    ASSERT_EQ(time.size(), 2U);
    const auto own = std::count(of_resnet18.begin(), of_resnet18.end(), true);
    EXPECT_EQ(time[true].accuracy.rows, own);
    EXPECT_EQ(time[false].accuracy.rows, own);
    // Two of three folds.
    EXPECT_NEAR(time[true].training_rows, 2.0 / 3 * static_cast<double>(rows.size()), 2);
    EXPECT_NEAR(time[false].training_rows, 2.0 / 3 * static_cast<double>(own), 2);
}

}  // namespace
}  // namespace joulecast
