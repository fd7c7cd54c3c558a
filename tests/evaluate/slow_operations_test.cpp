#include "joulecast/evaluate/slow_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/synthetic.h"

namespace joulecast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A made-up GPU with matrix units.
Device gpu_with_matrix_units() {
    Device device = synthetic_cpu();
    device.kind = Device::Kind::gpu;
    device.peak_flop_per_s_fp32 = 1e13;
    device.peak_flop_per_s_tf32 = 8e13;
    device.peak_flop_per_s_bf16 = 1.6e14;
    device.bandwidth_bytes_per_s = 1e12;
    return device;
}

std::vector<std::string> reasons(const std::string& text, Math math = Math::tf32) {
    const Device device = gpu_with_matrix_units();
    return likely_reasons(prepare(parse_operation(text), device, math), device, math);
}

TEST(LikelyReasons, TinyWorkIsLaunching) {
    EXPECT_THAT(reasons("aten::relu(self=f32[64])"), ElementsAre(StartsWith("tiny")));
    // 2 x 256 MB at 1 TB/s is half a millisecond.
    EXPECT_THAT(reasons("aten::relu(self=f32[67108864])"), IsEmpty());
}

TEST(LikelyReasons, SizesThatDoNotFillSixteenBytesAreNamed) {
    // bf16: steps of 8. 4096 fits, 4097 does not.
    EXPECT_THAT(reasons("aten::linear(input=bf16[4096,4096], weight=bf16[4096,4096])"), IsEmpty());
    EXPECT_THAT(reasons("aten::linear(input=bf16[4096,4097], weight=bf16[4096,4097])"),
                ElementsAre("unaligned: k = 4097, no multiple of 8"));
    // f32: steps of 4.
    EXPECT_THAT(reasons("aten::linear(input=f32[4096,4100], weight=f32[4096,4100])"), IsEmpty());
}

TEST(LikelyReasons, GroupedAndDepthwiseConvolutionsAreToldApart) {
    EXPECT_THAT(reasons("aten::conv2d(input=f32[64,128,112,112], weight=f32[128,1,3,3], groups=128)"),
                ElementsAre(StartsWith("depthwise")));
    EXPECT_THAT(reasons("aten::conv2d(input=f32[64,128,112,112], weight=f32[128,32,3,3], groups=4)"),
                ElementsAre(StartsWith("grouped: 4")));
}

TEST(LikelyReasons, StridedInputsAndFullPrecisionAreNamed) {
    EXPECT_THAT(reasons("aten::add.Tensor(self=f32[8192,8192]{1,8192}, other=f32[8192,8192])"),
                ElementsAre(StartsWith("strided: an input lies transposed")));
    // 8e13 / 1e13.
    EXPECT_THAT(reasons("aten::linear(input=f32[4096,4096], weight=f32[4096,4096])", Math::ieee),
                ElementsAre(StartsWith("not on matrix units: f32 with tf32 off, a 8 times")));
    EXPECT_THAT(reasons("aten::conv2d(input=f32[64,3,224,224], weight=f32[64,3,7,7])"),
                ElementsAre(StartsWith("unaligned: input channels = 3"), StartsWith("few input channels: 3")));
}

/// Three operations as measured, and as forecast at 1 ms (90 %: to 1.2 ms).
class SlowOperations : public ::testing::Test {
  protected:
    void add(const std::string& text, double measured_s) {
        TrainingRow row;
        row.operation = prepare(parse_operation(text), synthetic_cpu(), Math::ieee);
        row.group = operation_group(row.operation.operation);
        row.time_s = measured_s;
        OutOfFoldRow forecast;
        forecast.model = "joulecast";
        forecast.metric = "time_s";
        forecast.device = "cpu-synthetic";
        forecast.math = "ieee";
        forecast.group = row.group;
        forecast.measured = measured_s;
        forecast.predicted = 1e-3;
        forecast.low = 0.8e-3;
        forecast.high = 1.2e-3;
        rows_.push_back(row);
        held_out_.push_back(forecast);
    }
    std::vector<SlowOperation> slow(const SlowSettings& settings = {}) const {
        return slow_operations(held_out_, rows_, synthetic_cpu(), Math::ieee, settings);
    }
    std::vector<TrainingRow> rows_;
    std::vector<OutOfFoldRow> held_out_;
};

TEST_F(SlowOperations, AreThoseBeyondTheIntervalAndFarSlowerMostTimeLostFirst) {
    add("aten::relu(self=f32[1000])", 1.22e-3);  // beyond the interval, not far
    add("aten::relu(self=f32[2000])", 1.5e-3);
    add("aten::relu(self=f32[3000])", 3e-3);
    add("aten::relu(self=f32[4000])", 0.2e-3);  // faster
    held_out_.push_back(held_out_[2]);
    held_out_.back().model = "thesis_forest";  // another's forecast is not ours
    const auto found = slow();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(signature(found[0].operation), "aten::relu(self=f32[3000])");
    EXPECT_DOUBLE_EQ(found[0].lost_s(), 2e-3);
    EXPECT_DOUBLE_EQ(found[0].factor(), 3);
    EXPECT_EQ(signature(found[1].operation), "aten::relu(self=f32[2000])");
}

TEST_F(SlowOperations, CountAsOftenAsTheNetworksAskedAboutCallThem) {
    add("aten::relu(self=f32[2000])", 1.5e-3);
    add("aten::relu(self=f32[3000])", 3e-3);
    add("aten::relu(self=f32[4000])", 9e-3);
    const auto found = slow({.calls = {{"aten::relu(self=f32[2000])", 10}, {"aten::relu(self=f32[3000])", 1}}});
    ASSERT_EQ(found.size(), 2U);  // the third is not called
    EXPECT_DOUBLE_EQ(found[0].lost_s(), 10 * 0.5e-3);
    EXPECT_EQ(found[0].calls, 10);
    EXPECT_DOUBLE_EQ(found[1].lost_s(), 2e-3);
}

}  // namespace
}  // namespace joulecast::testing
