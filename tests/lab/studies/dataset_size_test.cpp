#include "lab/studies/dataset_size.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "joulecast/error.h"
#include "joulecast/evaluate/published_baselines.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

std::vector<TrainingRow> rows() {
    return testing::synthetic_training({testing::synthetic_graph("resnet18", 2),
                                        testing::synthetic_graph("mobilenet_v2", 2),
                                        testing::synthetic_graph("resnet18", 2, Mode::training)});
}

DatasetSizeSettings quick() {
    DatasetSizeSettings settings;
    settings.steps = 4;
    settings.folds = 2;
    settings.training.learner = Learner::extra_trees;
    settings.training.trees = 4;
    settings.training.folds = 2;
    settings.baselines = {&thesis_forest};
    return settings;
}

std::vector<DatasetSize> study(const std::vector<TrainingRow>& all, const DatasetSizeSettings& settings) {
    return study_dataset_size(testing::synthetic_cpu(), testing::synthetic_point(), all, settings);
}

TEST(DatasetSize, GrowsInEqualStepsToAllGroupsAndTestsOnTheSameRows) {
    const auto all = rows();
    std::set<std::string> groups;
    for (const TrainingRow& row : all) groups.insert(row.group);
    const auto lines = study(all, quick());
    ASSERT_EQ(lines.size(), 4U * 2U) << "time of joulecast and of the baseline; no power";
    std::map<std::string, std::vector<DatasetSize>> of_model;
    for (const DatasetSize& line : lines) {
        EXPECT_EQ(line.accuracy.metric, "time_s");
        EXPECT_EQ(line.accuracy.family, "all");
        EXPECT_EQ(line.accuracy.rows + line.accuracy.rows_without_forecast, std::ssize(all)) << "each is in one fold";
        EXPECT_DOUBLE_EQ(line.share, static_cast<double>(line.step) / 4);
        // Of two folds each holds half of the groups, give or take those of several rows.
        EXPECT_NEAR(line.training_groups, static_cast<double>(line.step) / 4 * static_cast<double>(groups.size()) / 2,
                    1.5);
        of_model[line.accuracy.model].push_back(line);
    }
    EXPECT_EQ(of_model["joulecast"].size(), 4U);
    EXPECT_EQ(of_model["thesis_forest"].size(), 4U);
    EXPECT_NEAR(of_model["joulecast"].back().training_rows, static_cast<double>(all.size()) / 2, 1);
}

TEST(DatasetSize, ByFamilyHasALineOfEachThatAddsUpToAll) {
    auto settings = quick();
    settings.by_family = true;
    settings.baselines.clear();
    double all = 0, sum = 0;
    std::int64_t tested = 0, of_families = 0;
    std::set<std::string> families;
    for (const DatasetSize& line : study(rows(), settings)) {
        if (line.step != 4) continue;
        const bool is_all = line.accuracy.family == "all";
        (is_all ? all : sum) += line.training_rows;
        (is_all ? tested : of_families) += line.accuracy.rows;
        families.insert(line.accuracy.family);
    }
    EXPECT_TRUE(families.contains("convolution"));
    EXPECT_GT(families.size(), 3U);
    EXPECT_EQ(of_families, tested);
    EXPECT_NEAR(sum, all, 1e-9);
}

TEST(DatasetSize, MoreRowsForecastBetter) {
    const auto lines = study(rows(), quick());
    EXPECT_EQ(lines.front().accuracy.model, "joulecast");
    EXPECT_LT(lines[lines.size() - 2].accuracy.mape, lines.front().accuracy.mape);
    EXPECT_FALSE(std::isnan(lines.front().mape_std));
}

TEST(DatasetSize, NeedsAsManyGroupsAsSteps) {
    auto few = rows();
    few.resize(12);
    auto settings = quick();
    settings.steps = 15;
    EXPECT_THROW(study(few, settings), Error);
}

}  // namespace
}  // namespace joulecast
