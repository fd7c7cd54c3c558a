#include "joulecast/train/train.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"
#include "joulecast/model/jcp.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

TEST(OperationGroup, JoinsModesAndTypesOfOneShape) {
    const auto group = [](const char* text) { return operation_group(parse_operation(text)); };
    EXPECT_EQ(group("aten::relu(self=bf16[8]~)"), group("aten::relu(self=f32[8])"));
    EXPECT_NE(group("aten::relu(self=f32[8])"), group("aten::relu(self=f32[9])"));
    EXPECT_EQ(group("aten::relu_(self=f32[8])"), group("aten::relu(self=f32[8])"));
    EXPECT_EQ(group("aten::dropout(input=f32[8], p=0.5, train=true)"),
              group("aten::dropout(input=f32[8], p=0.1, train=false)"));
    EXPECT_NE(group("aten::embedding(weight=f32[9,4], indices=i64[3])"),
              group("aten::embedding(weight=f32[9,4], indices=i32[3])"));
}

TEST(TrainingRows, TakeTheMostFrequentSettingAndUsableRowsOnly) {
    std::vector<OperationRow> rows = testing::synthetic_rows({synthetic_graph("alexnet", 2)});
    const std::size_t all = rows.size();
    rows[0].measurement.real.threads = 1;
    rows[1].measurement.outcome = Outcome::crashed;
    rows[2].measurement.time.median_s = std::nan("");
    OperatingPoint setting;
    EXPECT_EQ(training_rows(rows, testing::synthetic_cpu(), setting).size(), all - 3);
    EXPECT_EQ(setting.threads, 2);
    EXPECT_THROW(training_rows({}, testing::synthetic_cpu(), setting), Error);
}

TEST(TrainingRows, KeepTwoEnginesApart) {
    std::vector<OperationRow> rows = testing::synthetic_rows({synthetic_graph("alexnet", 2)});
    const std::size_t all = rows.size();
    for (std::size_t i = 0; i < 3; ++i) rows[i].measurement.real.engine = "onnxruntime";
    const auto settings = settings_of(rows);
    ASSERT_EQ(settings.size(), 2u);
    EXPECT_EQ(settings[0].engine, "torch");
    EXPECT_EQ(training_rows_at(rows, testing::synthetic_cpu(), settings[0]).size(), all - 3);
    EXPECT_EQ(training_rows_at(rows, testing::synthetic_cpu(), settings[1]).size(), 3u);
}

TEST(TrainingRows, ClockOfAModelIsThatOfTheRowInTheMiddle) {
    // Two heavy calls, one of them the first, ran slower under the power limit.
    std::vector<OperationRow> rows = testing::synthetic_rows({synthetic_graph("alexnet", 2)});
    ASSERT_GT(rows.size(), 5U);
    for (OperationRow& row : rows) row.measurement.real.sm_clock_mhz = 1530;
    rows[0].measurement.real.sm_clock_mhz = 1316;
    rows[1].measurement.real.sm_clock_mhz = 1400;
    EXPECT_EQ(settings_of(rows).at(0).sm_clock_mhz, 1530);
    // A few that nobody read do not decide, either.
    rows[2].measurement.real.sm_clock_mhz = -1;
    EXPECT_EQ(settings_of(rows).at(0).sm_clock_mhz, 1530);
}

TEST(TrainingRows, PowerThatSomebodyDoubtsCountsWhereThereIsNoOther) {
    std::vector<OperationRow> rows = testing::synthetic_rows({synthetic_graph("alexnet", 2)});
    for (OperationRow& row : rows) {
        row.measurement.energy.emplace();
        row.measurement.energy->power_w = 50;
        row.measurement.energy->suspect = true;
    }
    OperatingPoint setting;
    const auto powers = [&rows, &setting] {
        std::int64_t count = 0;
        for (const TrainingRow& row : training_rows(rows, testing::synthetic_cpu(), setting)) count += row.power_w > 0;
        return count;
    };
    EXPECT_EQ(powers(), std::ssize(rows));
    rows[3].measurement.energy->suspect = false;
    EXPECT_EQ(powers(), 1);
}

TEST(Train, IsTheSameFileEveryTime) {
    const auto rows = testing::synthetic_training({synthetic_graph("resnet18", 2)});
    const auto file = [&](unsigned threads) {
        TrainSettings settings;
        settings.trees = 4;
        settings.threads = threads;
        Predictor p = empty_predictor();
        p.devices.push_back(train_device(testing::synthetic_cpu(), testing::synthetic_point(), rows, {}, settings));
        return to_jcp(p);
    };
    EXPECT_EQ(file(1), file(3));
}

TEST(Train, FindsTheLawBehindTheTimes) {
    const auto rows = testing::synthetic_training({synthetic_graph("resnet50", 2), synthetic_graph("resnet18", 2)});
    TrainSettings settings;
    settings.trees = 5;
    const auto device = train_device(testing::synthetic_cpu(), testing::synthetic_point(), rows, {}, settings);
    const Law* law = find_law(device, parse_operation("aten::conv2d(input=f32[1,8,9,9], weight=f32[4,8,3,3])"));
    ASSERT_NE(law, nullptr);
    EXPECT_NEAR(law->flop_factor, 2.0, 0.15);  // synthetic_seconds: twice the data sheet's arithmetic time
}

}  // namespace
}  // namespace joulecast
