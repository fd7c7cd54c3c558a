#include "joulecast/train/choose_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/train/fit_models.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;

TEST(HeldOutScores, OfAllFoldsStandTogetherByChoice) {
    const std::pair part{Family::matmul, Metric::time};
    const auto scored = [&](const ModelChoice& choice, double error) {
        HeldOutScores scores;
        scores.scores[part] = {{choice, {error}, {10 * error}, {100 * error}}};
        return scores;
    };
    const ModelChoice boosted{Learner::xgboost, {}};
    const ModelChoice mean{Learner::extra_trees, {}};
    const ModelChoice midmean{Learner::extra_trees, {Middle::midmean}};
    CandidateScores all;
    append(all, scored(boosted, 0.5));
    append(all, scored(mean, 0.25));
    append(all, scored(midmean, 0.75));
    append(all, scored(boosted, 0.125));
    ASSERT_EQ(all.at(part).size(), 3U);
    EXPECT_EQ(all.at(part)[0].choice, boosted);
    EXPECT_THAT(all.at(part)[0].absolute_log_error, ElementsAre(0.5, 0.125));
    EXPECT_THAT(all.at(part)[0].score, ElementsAre(5, 1.25));
    EXPECT_THAT(all.at(part)[0].absolute_log_error_of_sum, ElementsAre(50, 12.5));
    EXPECT_THAT(all.at(part)[1].absolute_log_error, ElementsAre(0.25));
    EXPECT_THAT(all.at(part)[2].absolute_log_error, ElementsAre(0.75));
}

TEST(Readings, AreOfForestsMiddlesAndOfTimesWork) {
    using enum Middle;
    using enum PartWeights;
    EXPECT_EQ(readings(Metric::time, Learner::extra_trees),
              (std::vector<Reading>{{mean, alike}, {midmean, alike}, {mean, by_work}, {midmean, by_work}}));
    EXPECT_EQ(readings(Metric::power, Learner::random_forest), (std::vector<Reading>{{mean, alike}}));
    EXPECT_EQ(readings(Metric::time, Learner::xgboost), (std::vector<Reading>{{mean, alike}, {mean, by_work}}));
}

struct Errors {
    double of_operations = 0;
    double of_sums = 0;
};

TEST(BestCandidate, IsReadAsSumsAreBestAmongReadingsThatDoOperationsNearlyAsWell) {
    const ModelChoice plain{Learner::extra_trees, {}};
    const ModelChoice midmean{Learner::extra_trees, {Middle::midmean}};
    const auto best = [&](const Errors& of_plain, const Errors& of_midmean) {
        const std::vector<CandidateScore> scores{{plain, {of_plain.of_operations}, {1}, {of_plain.of_sums}},
                                                 {midmean, {of_midmean.of_operations}, {1}, {of_midmean.of_sums}}};
        return best_candidate(scores).choice;
    };
    EXPECT_EQ(best({0.31, 0}, {0.30, 0}), midmean);
    EXPECT_EQ(best({0.31, 0.01}, {0.30, 0.02}), plain);     // 0.31 + 0.032 against 0.30 + 0.063
    EXPECT_EQ(best({0.32, 0.015}, {0.30, 0.02}), midmean);  // 0.32 + 0.047
    EXPECT_EQ(best({0.329, 0.001}, {0.30, 0.02}), plain);   // within a tenth
    EXPECT_EQ(best({0.331, 0}, {0.30, 0.5}), midmean);      // beyond it
    EXPECT_EQ(best({0.30, 0.02}, {0.30, 0.02}), plain);     // the first of equals
}

TEST(BestCandidate, IsOfTheLearnerThatIsBestForOperations) {
    const std::vector<CandidateScore> scores{{{Learner::xgboost, {}}, {0.31}, {1}, {0}},
                                             {{Learner::extra_trees, {}}, {0.30}, {1}, {0.5}}};
    EXPECT_EQ(best_candidate(scores).choice.learner, Learner::extra_trees);
}

TEST(BestCandidate, ForecastsTheMostRows) {
    const ModelChoice few{Learner::xgboost, {}};
    const ModelChoice many{Learner::extra_trees, {}};
    const std::vector<CandidateScore> scores{{few, {0.1}, {1}, {0}}, {many, {0.5, 0.5}, {1, 1}, {0.5}}};
    EXPECT_EQ(best_candidate(scores).choice, many);
}

/// One fold of made-up rows held out by extra trees.
struct HeldOutFold {
    DeviceModel frame;
    std::vector<TrainingRow> rows =
        testing::synthetic_training({testing::synthetic_graph("resnet18", 2), testing::synthetic_graph("resnet18", 5)});
    std::vector<const TrainingRow*> inside;
    std::vector<std::size_t> outside;
    TrainSettings settings;
    DeviceModel fitted;
    HeldOutScores scores;

    HeldOutFold() {
        frame.device = testing::synthetic_cpu();
        settings.trees = 8;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i % 3 == 0) {
                outside.push_back(i);
            } else {
                inside.push_back(&rows[i]);
            }
        }
        fitted = fit_models(frame, inside, Learner::extra_trees, settings);
        scores = score_rows(fitted, rows, outside, Learner::extra_trees);
    }
};

TEST(ScoreRows, SaysOfEveryReadingWhatAModelFittedForItSays) {
    const HeldOutFold fold;
    const std::pair part{Family::convolution, Metric::time};
    ASSERT_EQ(fold.scores.scores.at(part).size(), 4U);
    for (const Reading& reading : readings(Metric::time, Learner::extra_trees)) {
        const ModelChoice choice{Learner::extra_trees, reading};
        CandidateScores chosen;
        chosen[part] = {{choice, {0.1}, {1}, {0.1}}};
        const DeviceModel alone = fit_chosen_models(fold.frame, fold.inside, chosen, fold.settings);
        const FamilyModel* model = find_model(alone, part.first, part.second);
        ASSERT_NE(model, nullptr);
        EXPECT_EQ(model->reading, reading);
        for (std::size_t place = 0; place < fold.outside.size(); ++place) {
            const TrainingRow& row = fold.rows[fold.outside[place]];
            if (row.operation.family() != part.first) continue;
            const auto forecast = forecast_log(alone, all_columns(), row.operation, Metric::time);
            ASSERT_TRUE(forecast);
            EXPECT_EQ(fold.scores.times[place].at(choice).log_value, forecast->log_value);
        }
    }
}

TEST(ScoreRows, SaysHowFarSumsAreOff) {
    const HeldOutFold fold;
    const std::pair part{Family::convolution, Metric::time};
    for (const CandidateScore& scored : fold.scores.scores.at(part)) {
        double forecast_s = 0, measured_s = 0;
        for (std::size_t place = 0; place < fold.outside.size(); ++place) {
            const TrainingRow& row = fold.rows[fold.outside[place]];
            if (row.operation.family() != part.first) continue;
            forecast_s += std::exp(fold.scores.times[place].at(scored.choice).log_value);
            measured_s += row.time_s;
        }
        ASSERT_EQ(scored.absolute_log_error_of_sum.size(), 1U);  // of one mode
        EXPECT_NEAR(scored.absolute_log_error_of_sum[0], std::abs(std::log(forecast_s / measured_s)), 1e-9);
    }
    for (const CandidateScore& scored : fold.scores.scores.at({Family::convolution, Metric::peak_memory}))
        EXPECT_TRUE(scored.absolute_log_error_of_sum.empty());
}

}  // namespace
}  // namespace joulecast
