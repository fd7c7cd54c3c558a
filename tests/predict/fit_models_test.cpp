#include "joulecast/predict/fit_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/predict/synthetic.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;

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

TEST(HeldOutScores, OfAllFoldsStandTogetherByChoice) {
    const std::pair part{Family::matmul, Metric::time};
    const auto scored = [&](const ModelChoice& choice, double error) {
        HeldOutScores scores;
        scores.scores[part] = {{choice, {error}, {10 * error}}};
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

TEST(BestCandidate, ReadsPlainlyUnlessAnotherWayIsClearlyBetter) {
    const ModelChoice boosted{Learner::xgboost, {}};
    const ModelChoice plain{Learner::extra_trees, {}};
    const ModelChoice midmean{Learner::extra_trees, {Middle::midmean}};
    const auto best = [&](double of_boosted, double of_plain, double of_midmean) {
        const std::vector<CandidateScore> scores{
            {boosted, {of_boosted}, {1}}, {plain, {of_plain}, {1}}, {midmean, {of_midmean}, {1}}};
        return best_candidate(scores).choice;
    };
    EXPECT_EQ(best(0.5, 0.3, 0.29), plain);
    EXPECT_EQ(best(0.5, 0.3, 0.28), midmean);
    EXPECT_EQ(best(0.295, 0.3, 0.29), plain);
    EXPECT_EQ(best(0.1, 0.3, 0.2), boosted);
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
        chosen[part] = {{choice, {0.1}, {1}}};
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

/// A model whose part over the law says `over_law` and that over the roofline `over_roofline`, whatever the row.
FamilyModel saying(float over_law, float over_roofline, PartWeights weights) {
    const auto leaf = [](float value) { return Forest{{{-1, value, 0}}, {0}}; };
    FamilyModel model;
    model.family = Family::elementwise;
    model.ranges.resize(all_columns().size());
    model.parts.resize(2);
    model.parts[0].model = leaf(over_law);
    model.parts[1].base = Base::roofline;
    model.parts[1].model = leaf(over_roofline);
    model.reading.weights = weights;
    return model;
}

TEST(ForecastLog, WeighsTheRooflineByTheShareOfWork) {
    DeviceModel device;
    device.device = testing::synthetic_cpu();
    const PreparedOperation call = prepare(parse_operation("aten::relu(self=f32[1000000])"), device.device, Math::ieee);
    const double roof_s = seconds(call.roofline);
    const auto log_value = [&](double floor_s, PartWeights weights) {
        device.laws = {{law_key(call.operation), {floor_s, 1, 1}, 9}};
        const auto forecast = forecast_log(device, saying(0.25F, 0.75F, weights), all_columns(), call,
                                           std::vector<float>(all_columns().size(), 0.0F));
        return forecast.value().log_value;
    };
    const auto law_log = [&](double floor_s) { return std::log(seconds({floor_s, 1, 1}, call.roofline)) + 0.25; };
    const double roof_log = std::log(roof_s) + 0.75;
    // As much floor as work: a quarter of the roofline's part. No floor: half of it. Nothing but floor: none.
    EXPECT_NEAR(log_value(roof_s, PartWeights::by_work), 0.75 * law_log(roof_s) + 0.25 * roof_log, 1e-6);
    EXPECT_NEAR(log_value(0, PartWeights::by_work), (law_log(0) + roof_log) / 2, 1e-6);
    EXPECT_NEAR(log_value(1e9 * roof_s, PartWeights::by_work), law_log(1e9 * roof_s), 1e-6);
    EXPECT_NEAR(log_value(roof_s, PartWeights::alike), (law_log(roof_s) + roof_log) / 2, 1e-6);
}

}  // namespace
}  // namespace joulecast
