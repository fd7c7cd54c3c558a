#include "joulecast/features/feature.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

namespace joulecast {
namespace {

double value(const char* feature, const char* text, std::optional<Law> law = {}) {
    const Operation operation = parse_operation(text);
    const Dimensions d = dimensions(operation);
    Device device;
    device.peak_flop_per_s_fp32 = device.peak_flop_per_s_bf16 = 1e10;
    device.bandwidth_bytes_per_s = 1e9;
    device.last_level_cache_bytes = 1024;
    device.units = 2;
    const OperatingPoint point;
    return find_feature(feature)->value({operation, d, device, point, roofline(operation, device), law, 3});
}

TEST(Features, HaveDistinctNamesThatFitTheFile) {
    std::set<std::string_view> names;
    for (const Feature& feature : features()) EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
    EXPECT_LT(names.size(), 255U);  // one byte in .jcp, 255 marks a leaf
}

TEST(Features, AreLogarithmsOfSizes) {
    EXPECT_EQ(value("n", "aten::relu(self=f32[8,16])"), 3);
    EXPECT_EQ(value("input_bytes", "aten::relu(self=f32[8,16])"), 9);           // 512 bytes
    EXPECT_EQ(value("footprint_over_cache", "aten::relu(self=f32[8,16])"), 0);  // 512 in and 512 out over 1024
    EXPECT_EQ(value("dtype_bits", "aten::relu(self=bf16[8,16])"), 16);
}

TEST(Features, MarkWhatWinogradCanDo) {
    EXPECT_EQ(value("winograd", "aten::conv2d(input=f32[1,4,9,9], weight=f32[4,4,3,3])"), 1);
    EXPECT_EQ(value("winograd", "aten::conv2d(input=f32[1,4,9,9], weight=f32[4,4,3,3], stride=[2,2])"), 0);
    EXPECT_TRUE(std::isnan(value("winograd", "aten::relu(self=f32[8])")));
}

TEST(Features, TellTrainingFromInference) {
    EXPECT_EQ(value("training", "aten::relu(self=f32[8])"), 0);
    EXPECT_EQ(value("training", "aten::relu(self=f32[8]~)"), 1);
    EXPECT_GT(value("backward_share", "aten::relu(self=f32[8]~)"), 0);
}

TEST(Features, OfOneDeviceAreSecondsAndBytesAndThoseOfAProductNameNoArgument) {
    // bmm and linear place their arguments differently; the product they compute is the same.
    for (const char* name : {"flops", "gemm_k", "waves", "tile_tail_64", "over_latency", "training"})
        EXPECT_EQ(find_feature(name)->tells, Tells::product) << name;
    for (const char* name : {"target", "layout_1", "bias", "last", "inputs", "bytes"})
        EXPECT_EQ(find_feature(name)->tells, Tells::call) << name;
    for (const char* name : {"byte_time", "law_floor", "output_per_unit", "work_over_floor"})
        EXPECT_EQ(find_feature(name)->tells, Tells::one_device) << name;
}

TEST(Features, AreMissingWithoutALaw) {
    EXPECT_TRUE(std::isnan(value("law_time", "aten::relu(self=f32[8])")));
    // 64 bytes at 1e9 B/s and twice the data sheet's time are 128 ns, over a floor of 64 ns: ln 2.
    EXPECT_NEAR(value("work_over_floor", "aten::relu(self=f32[8])", Law{64e-9, 0, 2}), std::log(2), 1e-12);
}

TEST(Features, OfAnEmptyTensorAreFiniteOrMissing) {
    // Rows for the trees hold no infinity: that would be mistaken for a missing value in training only.
    std::vector<const Feature*> all;
    for (const Feature& feature : features()) all.push_back(&feature);
    const Operation empty = parse_operation("aten::relu(self=f32[0,4])");
    const Dimensions d = dimensions(empty);
    Device device;
    device.peak_flop_per_s_fp32 = device.bandwidth_bytes_per_s = 1e9;
    const OperatingPoint point;
    for (const float x : feature_row(all, {empty, d, device, point, roofline(empty, device), Law{}, 0})) {
        EXPECT_FALSE(std::isinf(x));
    }
}

TEST(Features, AreAllDocumented) {
    std::ifstream file(std::string(JOULECAST_SOURCE_DIR) + "/docs/features.md");
    std::stringstream text;
    text << file.rdbuf();
    for (const Feature& feature : features()) {
        EXPECT_NE(text.str().find("`" + std::string(feature.name) + "`"), std::string::npos) << feature.name;
    }
}

}  // namespace
}  // namespace joulecast
