#include "lab/studies/what_next_trial.h"

#include <gtest/gtest.h>

#include <map>

#include "joulecast/error.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

TrialSettings quick() {
    TrialSettings settings;
    settings.seeds = 2;
    settings.budgets = {0.25, 0.5};
    settings.choice.training.trees = 4;
    settings.choice.training.folds = 2;
    return settings;
}

std::vector<TrialLine> tried(const std::vector<TrainingRow>& rows) {
    std::vector<TrialRow> all;
    for (const TrainingRow& row : rows) all.push_back({&row, 1.0, 1.0});
    return try_what_next(testing::synthetic_cpu(), testing::synthetic_point(), all, quick());
}

TEST(WhatNextTrial, SpendsTheSameSecondsByEveryStrategy) {
    const auto lines = tried(testing::synthetic_training(
        {testing::synthetic_graph("resnet50", 2), testing::synthetic_graph("mobilenet_v2", 2)}));
    ASSERT_EQ(lines.size(), 1U + 2U * 3U + 1U);
    EXPECT_EQ(lines.front().strategy, "none");
    EXPECT_EQ(lines.front().measured, 0);
    EXPECT_EQ(lines.back().strategy, "all");
    std::map<std::string, std::vector<TrialLine>> of;
    for (const TrialLine& line : lines) of[line.strategy].push_back(line);
    for (const char* strategy : {"what_next", "share", "random"}) {
        ASSERT_EQ(of[strategy].size(), 2U);
        for (const TrialLine& line : of[strategy]) {
            // Every operation took a second, so what is spent is what is measured, and less than one is left over.
            EXPECT_DOUBLE_EQ(line.cost_s, line.measured);
            EXPECT_NEAR(line.cost_s, line.budget * lines.back().cost_s, 1) << strategy;
        }
    }
    // With everything measured only the tested rows are not known.
    EXPECT_LT(lines.back().networks_ape, lines.front().networks_ape);
}

TEST(WhatNextTrial, NeedsRowsToHide) {
    auto rows = testing::synthetic_training({testing::synthetic_graph("resnet18", 2)});
    rows.resize(5);
    EXPECT_THROW(tried(rows), Error);
}

}  // namespace
}  // namespace joulecast
