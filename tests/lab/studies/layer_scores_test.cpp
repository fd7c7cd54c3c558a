#include "lab/studies/layer_scores.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

OutOfFoldRow row_of(const std::string& model, const std::string& layer, double measured, double predicted,
                    const std::string& mode = "inference") {
    OutOfFoldRow row;
    row.model = model;
    row.metric = "time_s";
    row.family = layer;
    row.device = "card";
    row.mode = mode;
    row.math = "ieee";
    row.measured = measured;
    row.predicted = predicted;
    return row;
}

const LayerScore& line_of(const std::vector<LayerScore>& lines, const std::string& model, const std::string& layer) {
    for (const LayerScore& line : lines) {
        if (line.accuracy.model == model && line.accuracy.family == layer) return line;
    }
    throw Error("no line of " + model + " and " + layer);
}

/// Of conv2d `near` is off by 10 %, `far` by 20 %; of linear the other way round.
std::vector<OutOfFoldRow> two_methods() {
    std::vector<OutOfFoldRow> rows;
    for (const double measured : {1.0, 2.0, 3.0}) {
        rows.push_back(row_of("near", "conv2d", measured, 1.1 * measured));
        rows.push_back(row_of("far", "conv2d", measured, 1.2 * measured));
        rows.push_back(row_of("near", "linear", measured, 1.2 * measured));
        rows.push_back(row_of("far", "linear", measured, 1.1 * measured));
    }
    return rows;
}

TEST(LayerScores, MarkTheBestMethodOfEachLayerType) {
    const auto lines = layer_scores(two_methods());
    ASSERT_EQ(lines.size(), 6U);  // two methods on all layers, conv2d and linear
    EXPECT_EQ(lines[0].accuracy.family, all_layers);
    EXPECT_TRUE(line_of(lines, "near", "conv2d").best_mape);
    EXPECT_TRUE(line_of(lines, "near", "conv2d").best_r2);
    EXPECT_FALSE(line_of(lines, "far", "conv2d").best_mape);
    EXPECT_TRUE(line_of(lines, "far", "linear").best_r2);
    EXPECT_NEAR(line_of(lines, "near", "conv2d").accuracy.mape, 0.1, 1e-12);
    // R² of 1, 2, 3 told 10 % more: 1 - 0.01 (1 + 4 + 9) / 2.
    EXPECT_NEAR(line_of(lines, "near", "conv2d").accuracy.r2, 1 - 0.14 / 2, 1e-12);
}

TEST(LayerScores, AMethodWithGapsIsNotTheBest) {
    auto rows = two_methods();
    rows[0].predicted = std::nan("");  // the worst of them would have been left out, and the rest looked better
    const auto lines = layer_scores(rows);
    EXPECT_FALSE(line_of(lines, "near", "conv2d").best_mape);
    EXPECT_TRUE(line_of(lines, "far", "conv2d").best_mape);
    EXPECT_EQ(line_of(lines, "near", "conv2d").accuracy.rows_without_forecast, 1);
}

TEST(LayerScores, KeepModesApart) {
    auto rows = two_methods();
    for (const double measured : {3.0, 6.0, 9.0})
        rows.push_back(row_of("near", "linear", measured, measured, "training"));
    for (const LayerScore& line : layer_scores(rows)) EXPECT_NE(line.accuracy.mode, "all");
}

TEST(LayerScores, NameLayersAsThePapersDo) {
    const auto rows = testing::synthetic_training({testing::synthetic_graph("mobilenet_v2", 2)});
    std::vector<OutOfFoldRow> forecasts;
    for (const TrainingRow& row : rows) {
        forecasts.push_back(row_of("m", "", row.time_s, row.time_s));
        forecasts.back().group = row.group;
    }
    std::set<std::string> layers;
    for (const OutOfFoldRow& row : by_layer(forecasts, rows)) layers.insert(row.family);
    EXPECT_TRUE(layers.contains("conv2d"));
    EXPECT_TRUE(layers.contains("conv2d/depthwise"));
    EXPECT_TRUE(layers.contains("linear"));
    forecasts.front().group = "nothing";
    EXPECT_THROW(by_layer(forecasts, rows), Error);
}

}  // namespace
}  // namespace joulecast
