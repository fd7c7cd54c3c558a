#include "lab/studies/feature_augmentation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"
#include "lab/studies/layer_scores.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

/// Convolutions whose time is their arithmetic: hyper-parameters tell it as a product, the fourth feature by itself.
std::vector<TrainingRow> convolutions() {
    std::vector<TrainingRow> rows;
    for (int channels = 8; channels <= 64; channels += 8) {
        for (int size = 7; size <= 56; size += 7) {
            const std::string c = std::to_string(channels), s = std::to_string(size);
            const Operation operation = parse_operation("aten::conv2d(input=f32[1," + c + "," + s + "," + s +
                                                        "], weight=f32[" + c + "," + c + ",3,3], padding=[1,1])");
            TrainingRow& row = rows.emplace_back();
            row.operation = prepare(operation, testing::synthetic_cpu(), Math::ieee);
            row.group = operation_group(operation);
            row.time_s = 1e-12 * static_cast<double>(row.operation.dimensions.forward.flop);
        }
    }
    return rows;
}

std::vector<AugmentationScore> study(const std::vector<TrainingRow>& rows, const std::vector<bool>& of_networks) {
    AugmentationSettings settings;
    settings.learner = Learner::linear;
    return study_augmentation(testing::synthetic_cpu(), testing::synthetic_point(), rows, of_networks, settings);
}

const AugmentationScore& line_of(const std::vector<AugmentationScore>& lines, bool features, bool variants) {
    for (const AugmentationScore& line : lines) {
        if (line.with_features == features && line.with_variants == variants && line.accuracy.family == "conv2d")
            return line;
    }
    throw Error("no such line");
}

TEST(FeatureAugmentation, ALineNeedsTheNumberOfOperations) {
    const auto rows = convolutions();
    const auto lines = study(rows, std::vector<bool>(rows.size(), true));
    ASSERT_EQ(lines.size(), 4U);  // conv2d and all layers, with and without; no power
    EXPECT_GT(line_of(lines, true, true).accuracy.r2, 0.9999);
    EXPECT_LT(line_of(lines, false, true).accuracy.r2, 0.95);
    EXPECT_EQ(line_of(lines, true, true).accuracy.rows, std::ssize(rows));
}

TEST(FeatureAugmentation, VariantsAreTrainedOnAndNeverTested) {
    const auto rows = convolutions();
    std::vector<bool> of_networks(rows.size(), false);
    for (std::size_t i = 0; i < rows.size(); i += 2) of_networks[i] = true;
    const auto lines = study(rows, of_networks);
    const AugmentationScore& without = line_of(lines, false, false);
    const AugmentationScore& with = line_of(lines, false, true);
    EXPECT_EQ(without.accuracy.rows, std::ssize(rows) / 2);
    EXPECT_EQ(with.accuracy.rows, std::ssize(rows) / 2);
    // Four of five folds are trained on.
    EXPECT_NEAR(without.training_rows, 0.4 * static_cast<double>(rows.size()), 1);
    EXPECT_NEAR(with.training_rows, 0.8 * static_cast<double>(rows.size()), 1);
}

TEST(FeatureAugmentation, NeedsRowsOnBothSides) {
    EXPECT_THROW(study({}, {}), Error);
}

}  // namespace
}  // namespace joulecast
