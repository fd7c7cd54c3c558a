#include "lab/studies/learner_comparison.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

TEST(CompareLearners, GivesEachItsLineForEveryFamilyAndMetric) {
    const auto rows = testing::synthetic_training({testing::synthetic_graph("resnet50", 2)});
    ComparisonSettings settings;
    settings.folds = 3;
    settings.learners = {Learner::decision_tree, Learner::ridge, Learner::knn};
    settings.training.trees = 4;
    const auto scores = compare_learners(testing::synthetic_cpu(), testing::synthetic_point(), rows, settings);
    std::map<std::pair<std::string, std::string>, std::vector<LearnerScore>> parts;
    for (const LearnerScore& score : scores) parts[{score.accuracy.metric, score.accuracy.family}].push_back(score);
    ASSERT_TRUE(parts.contains({"time_s", "convolution"}));
    ASSERT_TRUE(parts.contains({"peak_memory_bytes", "convolution"}));
    std::int64_t convolutions = 0;
    for (const TrainingRow& row : rows) convolutions += row.operation.family() == Family::convolution ? 1 : 0;
    for (const auto& [part, lines] : parts) {
        EXPECT_EQ(lines.size(), 3U) << part.first << " " << part.second;
        for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_GE(lines[i].accuracy.mape, lines[i - 1].accuracy.mape);
        for (const LearnerScore& line : lines) {
            EXPECT_GE(line.training_s, 0);
            EXPECT_NE(part.second, "all");
            EXPECT_TRUE(part.second != "convolution" || line.accuracy.rows == convolutions);
        }
    }
    EXPECT_EQ(scores.front().accuracy.metric, "time_s");
    // The law explains all but the noise of 3 %, whoever learns the rest.
    for (const LearnerScore& line : parts[{"time_s", "convolution"}]) EXPECT_LT(line.accuracy.median_ape, 0.1);
}

TEST(CompareLearners, TakesAllTenWhereNoneIsNamed) {
    const auto rows = testing::synthetic_training({testing::synthetic_graph("resnet50", 2)});
    ComparisonSettings settings;
    settings.folds = 2;
    settings.training.trees = 2;
    std::set<std::string> learners;
    for (const LearnerScore& score :
         compare_learners(testing::synthetic_cpu(), testing::synthetic_point(), rows, settings))
        learners.insert(score.accuracy.model);
    EXPECT_EQ(learners.size(), all_learners().size());
}

}  // namespace
}  // namespace joulecast
