#include "joulecast/forecast/eager_kernels.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

const Device& h200() {
    static const Device device = find_device("h200");
    return device;
}

/// Microseconds of the least that a call takes.
double least(const std::string& call, const Device& device = h200()) {
    return 1e6 * least_eager_kernel_s(prepare(parse_operation(call), device, Math::ieee), device);
}

// What an H200 took stands behind each (datasets/h200.csv): a bound above it would be wrong, one far below useless.
void expect_just_below(double bound_us, double measured_us) {
    EXPECT_LE(bound_us, 1.01 * measured_us);
    EXPECT_GE(bound_us, 0.8 * measured_us);
}

TEST(EagerKernels, ElementsOfOperandsThatDifferAreLoadedOneByOne) {
    expect_just_below(least("aten::add.Tensor(self=bf16[128,197,768], other=bf16[1,197,768])"), 49.4);
    expect_just_below(least("aten::mul.Tensor(self=bf16[2048], other=bf16[32,128,2048])"), 22.3);
    expect_just_below(least("aten::add.Tensor(self=bf16[128,197,768]{768,98304,1}, other=bf16[128,197,768])"), 58.0);
    EXPECT_GT(least("aten::add.Tensor(self=bf16[32,128,768], other=f32[32,128,768])"), 0);
    EXPECT_EQ(least("aten::add.Tensor(self=bf16[128,197,768], other=bf16[128,197,768])"), 0);
    EXPECT_EQ(least("aten::mul.Tensor(self=bf16[128,197,768], other=bf16[])"), 0);  // a constant to the kernel
    EXPECT_EQ(least("aten::relu(self=bf16[128,56,56,64]{cl})"), 0);
}

TEST(EagerKernels, ScalingAndGeluAreInstructionsToo) {
    expect_just_below(least("aten::batch_norm(input=bf16[128,256,56,56], weight=bf16[256], bias=bf16[256], "
                            "running_mean=bf16[256], running_var=bf16[256], training=false, momentum=0.1, eps=1e-05, "
                            "cudnn_enabled=true)"),
                      290);
    EXPECT_EQ(least("aten::batch_norm(input=bf16[128,256,56,56], weight=bf16[256], bias=bf16[256], "
                    "running_mean=bf16[256], running_var=bf16[256], training=true, momentum=0.1, eps=1e-05, "
                    "cudnn_enabled=true)"),
              0);
    expect_just_below(least("aten::gelu(self=bf16[128,56,56,384])"), 198.6);
    EXPECT_EQ(least("aten::gelu(self=f32[128,56,56,384])"), 0);  // its bytes take longer
}

TEST(EagerKernels, RowsOfALayerNormTakeTheirTime) {
    const std::string of = ", eps=1e-06)";
    expect_just_below(
        least("aten::layer_norm(input=bf16[128,56,56,96], normalized_shape=[96], weight=bf16[96], bias=bf16[96]" + of),
        462);
    expect_just_below(
        least("aten::layer_norm(input=bf16[128,197,768], normalized_shape=[768], weight=bf16[768], bias=bf16[768]" +
              of),
        56);
}

TEST(EagerKernels, EachPlaceOfADepthwiseWindowTakesItsTime) {
    const std::string window = ", bias=bf16[96], padding=[3,3], groups=96)";
    expect_just_below(least("aten::conv2d(input=bf16[128,96,56,56]{cl}, weight=bf16[96,1,7,7]" + window), 386);
    EXPECT_EQ(least("aten::conv2d(input=bf16[128,96,56,56], weight=bf16[96,1,7,7]" + window), 0);
    EXPECT_EQ(least("aten::conv2d(input=bf16[128,96,56,56]{cl}, weight=bf16[96,96,3,3])"), 0);
}

TEST(EagerKernels, SmallPlanesOfBf16TakeABlockEach) {
    const auto norm = [](const std::string& type, const std::string& sizes) {
        const std::string of = type + "[" + sizes.substr(0, sizes.find(',')) + "]";
        return least("aten::batch_norm(input=" + type + "[128," + sizes + "], weight=" + of + ", bias=" + of +
                     ", running_mean=" + of + ", running_var=" + of +
                     ", training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)");
    };
    expect_just_below(norm("bf16", "2048,7,7"), 167.9);
    expect_just_below(norm("bf16", "512,7,7"), 46.1);
    expect_just_below(norm("bf16", "1024,14,14"), 90.2);
    EXPECT_LT(norm("f32", "2048,7,7"), 0.25 * norm("bf16", "2048,7,7"));  // cuDNN's
}

TEST(EagerKernels, SmallPlanesOfBf16MostlyWait) {
    const auto share = [](const std::string& sizes, const std::string& type, const Device& device = h200()) {
        const std::string channels = type + "[512]";
        return share_at_work(prepare(parse_operation("aten::batch_norm(input=" + type + sizes + ", weight=" + channels +
                                                     ", bias=" + channels + ", running_mean=" + channels +
                                                     ", running_var=" + channels + ", training=false)"),
                                     device, Math::ieee),
                             device);
    };
    EXPECT_NEAR(share("[128,512,7,7]", "bf16"), 0.65 * 49 / (160 + 9000 * 132 / (128.0 * 512)), 1e-6);
    EXPECT_NEAR(share("[128,512,56,56]", "bf16"), 1, 0.02);
    EXPECT_LT(share("[1,512,56,56]", "bf16"), 0.5);  // before the first block is done
    EXPECT_EQ(share("[128,512,7,7]", "f32"), 1);
    EXPECT_EQ(share("[128,512,7,7]", "bf16", find_device("mi210")), 1);
    const auto other = prepare(parse_operation("aten::relu(self=bf16[8,8])"), h200(), Math::ieee);
    EXPECT_EQ(share_at_work(other, h200()), 1);
}

TEST(EagerKernels, PoolingCountsThePlacesOfItsWindow) {
    const auto pool = [](const std::string& input, const std::string& window) {
        return least("aten::max_pool2d(self=" + input + ", " + window + ")");
    };
    expect_just_below(pool("bf16[128,64,112,112]", "kernel_size=[3,3], stride=[2,2], padding=[1,1]"), 422);
    expect_just_below(pool("f32[32,64,256,256]", "kernel_size=[2,2], stride=[2,2]"), 397);
    expect_just_below(pool("f32[32,512,32,32]", "kernel_size=[2,2], stride=[2,2]"), 52.7);
    // H100: forward and backward.
    const Device h100 = find_device("h100-sxm");
    const std::string first = ", kernel_size=[3,3], stride=[2,2], padding=[1,1])";
    expect_just_below(least("aten::max_pool2d(self=bf16[32,64,112,112]~" + first, h100), 415);
    expect_just_below(least("aten::max_pool2d(self=f32[8,64,112,112]~" + first, h100), 108.1);
    EXPECT_EQ(least("aten::max_pool2d_with_indices(self=bf16[32,64,112,112]" + first),
              least("aten::max_pool2d(self=bf16[32,64,112,112]" + first));
    // The kernel for channels that lie last walks the same places (Inception on an RTX 3090 and 4090).
    EXPECT_EQ(pool("bf16[128,64,112,112]{cl}", "kernel_size=[3,3], stride=[2,2], padding=[1,1]"),
              pool("bf16[128,64,112,112]", "kernel_size=[3,3], stride=[2,2], padding=[1,1]"));
}

TEST(EagerKernels, AveragesOverPlanesAreManyShortReductions) {
    expect_just_below(least("aten::adaptive_avg_pool2d(self=bf16[128,2048,7,7], output_size=[1,1])"), 60.4);
    expect_just_below(
        least("aten::adaptive_avg_pool2d(self=f32[32,2048,7,7], output_size=[1,1])", find_device("h100-sxm")), 16.7);
    // Planes of many places are held by these, and what trains spreads the gradient over them.
    expect_just_below(least("aten::adaptive_avg_pool2d(self=bf16[32,32,112,112], output_size=[1,1])"), 11.2);
    expect_just_below(least("aten::adaptive_avg_pool2d(self=bf16[64,1280,7,7]~, output_size=[1,1])"), 28.4);
    expect_just_below(least("aten::adaptive_avg_pool2d(self=f32[32,512,7,7], output_size=[7,7])"), 41.9);
}

TEST(EagerKernels, AveragesOverWindowsAndTheirGradients) {
    const std::string dense = ", kernel_size=[3,3], stride=[1,1], padding=[1,1])";
    expect_just_below(least("aten::avg_pool2d(self=bf16[32,256,28,28]" + dense), 81.2);
    expect_just_below(least("aten::avg_pool2d(self=f32[32,64,112,112]" + dense), 326.6);
    expect_just_below(least("aten::avg_pool2d(self=f32[32,64,112,112]~, kernel_size=[2,2], stride=[2,2])"), 540.2);
    expect_just_below(least("aten::avg_pool2d(self=f32[64,512,14,14]~, kernel_size=[2,2], stride=[2,2])"), 139.9);
    EXPECT_EQ(least("aten::avg_pool2d(self=bf16[32,256,28,28]{cl}" + dense),
              least("aten::avg_pool2d(self=bf16[32,256,28,28]" + dense));
}

TEST(EagerKernels, EnlargingTakesInstructionsForEachResult) {
    const std::string twice = "output_size=none, scale_factors=[2.0,2.0])";
    expect_just_below(least("aten::upsample_nearest2d.vec(input=bf16[8,512,32,32], " + twice), 40.1);
    expect_just_below(least("aten::upsample_bilinear2d.vec(input=bf16[8,256,64,64], output_size=none, "
                            "align_corners=false, scale_factors=[2.0,2.0])"),
                      831);
    expect_just_below(least("aten::upsample_bilinear2d.vec(input=f32[8,256,64,64], output_size=none, "
                            "align_corners=false, scale_factors=[2.0,2.0])"),
                      821);
}

// A thread for each place of the result takes all planes in turn, so that few places keep one unit at work.
TEST(EagerKernels, InterpolationTakesAllPlanesInTurn) {
    const auto enlarged = [](const std::string& images, const std::string& times, const Device& device) {
        return least("aten::upsample_bilinear2d.vec(input=" + images +
                         ", output_size=none, align_corners=false, scale_factors=[" + times + "," + times + "])",
                     device);
    };
    // EfficientFormerV2-S2 on an RTX 4090 has two such calls more than S0, and takes 663 ms more (timm's table, 1,024
    // images).
    const Device rtx4090 = find_device("rtx4090");
    const double few_places = enlarged("f16[1024,1024,7,7]", "2.0", rtx4090);
    EXPECT_NEAR(few_places, 257e3, 60e3);
    EXPECT_NEAR(enlarged("f16[512,1024,7,7]", "2.0", rtx4090), few_places / 2, few_places / 100);
    // Sixteen times the places are 16 blocks in the place of one: other units take them.
    EXPECT_NEAR(enlarged("f16[1024,1024,7,7]", "8.0", rtx4090), 2 * few_places, few_places);
    // More blocks than units hold at once come in rounds: 16,384 of them on 132 units with room for two each.
    const Device h200 = find_device("h200");
    EXPECT_GT(enlarged("f16[1,32,1024,1024]", "4.0", h200), 60 * enlarged("f16[1,32,64,64]", "2.0", h200));
    const auto at_work = [](const std::string& call, const Device& device) {
        return share_at_work(prepare(parse_operation(call), device, Math::ieee), device);
    };
    const std::string times = ", output_size=none, align_corners=false, scale_factors=[2.0,2.0])";
    EXPECT_EQ(at_work("aten::upsample_bilinear2d.vec(input=f16[1024,1024,7,7]" + times, rtx4090), 1.0 / 128);
    EXPECT_EQ(at_work("aten::upsample_bilinear2d.vec(input=bf16[8,256,64,64]" + times, h200), 16.0 / 132);
    EXPECT_EQ(at_work("aten::upsample_bilinear2d.vec(input=f16[1,3,512,512]" + times, rtx4090), 1);
    // Channels that lie last, and the nearest place, have a thread for each result.
    const std::string nearest =
        "aten::upsample_nearest2d.vec(input=f16[1024,1024,7,7], output_size=none, scale_factors=[2.0,2.0])";
    EXPECT_LT(enlarged("f16[1024,1024,7,7]{cl}", "2.0", rtx4090), 1);
    EXPECT_LT(least(nearest, rtx4090), few_places / 100);
}

TEST(EagerKernels, SumsTakeAsLongAsTheirRowsOrColumns) {
    const auto mean = [](const std::string& self, const std::string& dim) {
        return least("aten::mean.dim(self=" + self + ", dim=" + dim + ")");
    };
    expect_just_below(mean("bf16[32,2048,7,7]", "[2,3]"), 16.3);
    expect_just_below(mean("bf16[4096,4096]", "[1]"), 13.1);
    expect_just_below(mean("bf16[4096,4096]", "[0]"), 20.6);
    expect_just_below(mean("bf16[64,1000]", "[1]"), 4.0);
    expect_just_below(mean("bf16[64,1000]", "[-1]"), 4.0);
    EXPECT_LT(mean("f32[4096,4096]", "[1]"), 23.3);               // its bytes take longer
    EXPECT_LT(least("aten::sum(self=bf16[64,1024,1024])"), 8.4);  // to one number: bytes
}

TEST(EagerKernels, GroupNormMovesItsInputByInstructions) {
    const auto norm = [](const std::string& type, const std::string& sizes, const std::string& groups) {
        const std::string channels = sizes.substr(2, sizes.find(',', 2) - 2);
        const std::string of = type + "[" + channels + "]";
        return least("aten::group_norm(input=" + type + "[" + sizes + "], num_groups=" + groups + ", weight=" + of +
                     ", bias=" + of + ")");
    };
    expect_just_below(norm("bf16", "8,320,64,64", "32"), 70.7);
    expect_just_below(norm("bf16", "8,1280,16,16", "32"), 21.7);
    EXPECT_EQ(norm("f32", "8,1280,16,16", "32"), norm("bf16", "8,1280,16,16", "32"));
}

TEST(EagerKernels, GradientsOfALookupComeOneRowAfterAnother) {
    const auto lookup = [](const std::string& table, const std::string& indices) {
        return least("aten::embedding(weight=" + table + "~, indices=i64[" + indices + "])");
    };
    // What an H200 took less its forward pass, its table of zeros written at 4.8 TB/s.
    expect_just_below(lookup("f32[30522,768]", "8,128"), 73.0 - 2.6 - 19.5);
    expect_just_below(lookup("f32[512,768]", "1,128"), 8.7 - 2.5);
    expect_just_below(lookup("bf16[30522,768]", "64,512"), 466.9 - 25.3 - 9.8);  // sorted first
    EXPECT_EQ(least("aten::embedding(weight=f32[30522,768], indices=i64[8,128])"), 0);
    // Not shared out over units: a card with fewer of them takes as long at the same clock.
    Device half = h200();
    half.units /= 2;
    EXPECT_NEAR(least("aten::embedding(weight=f32[30522,768]~, indices=i64[8,128])", half),
                lookup("f32[30522,768]", "8,128"), 1e-9);
}

TEST(EagerKernels, CopiesIntoAnotherOrderMoveOneElementAtATime) {
    const std::string heads = "{768,294912,2304,1}";
    EXPECT_NEAR(least("aten::contiguous(self=bf16[3,197,128,768]" + heads + ")"), 142.1, 0.05 * 142.1);
    EXPECT_NEAR(least("aten::reshape(self=bf16[32,8,4,128,64]{65536,64,0,512,1}, shape=[32,32,128,64])"), 26.6,
                0.25 * 26.6);
    expect_just_below(least("aten::cat(tensors=[bf16[32,32,128,32]{131072,32,1024,1}, "
                            "bf16[32,32,128,32]{262144,64,2048,1}], dim=-1)"),
                      37.4);
    // Read across what is written; three channels lie too near for that.
    expect_just_below(least("aten::contiguous(self=bf16[32,256,56,56]{cl})"), 173.1);
    expect_just_below(least("aten::contiguous(self=bf16[4096,4096]{1,4096})"), 116.7);
    expect_just_below(least("aten::contiguous(self=bf16[64,3,224,224]{cl})"), 26.8);
    expect_just_below(least("aten::clone(self=bf16[8,64,56,56]{cl}, memory_format=\"contiguous_format\")"), 12.7);
    EXPECT_EQ(least("aten::contiguous(self=bf16[3,197,128,768])"), 0);  // copies nothing
    EXPECT_EQ(least("aten::clone(self=bf16[8,64,56,56]{cl})"), 0);      // keeps the order
    EXPECT_GT(least("aten::clone(self=bf16[8,64,56,56]{401408,3136,112,1})"), 0);
    EXPECT_EQ(least("aten::cat(tensors=[bf16[32,64,56,56], bf16[32,64,56,56]], dim=1)"), 0);
}

TEST(EagerKernels, RollingPaddingAndCastingAreInstructions) {
    expect_just_below(least("aten::roll(self=bf16[32,56,56,96], shifts=[-3,-3], dims=[1,2])"), 85.2);
    expect_just_below(least("aten::roll(self=f32[32,14,14,384], shifts=[3,3], dims=[1,2])"), 25.3);
    expect_just_below(least("aten::pad(self=bf16[32,64,112,112], pad=[1,1,1,1])"), 90.9);
    expect_just_below(least("aten::_to_copy(self=bf16[64,1048576], dtype=f32)"), 190.5);
    EXPECT_EQ(least("aten::_to_copy(self=f32[64,1048576], dtype=bf16)"), 0);  // its bytes take as long
    expect_just_below(least("aten::_to_copy(self=f32[50257,768]~, dtype=bf16)"), 168.6);
    expect_just_below(least("aten::div.Tensor(self=bf16[1024,8192], other=f32[])"), 33.4);
}

TEST(EagerKernels, AreThoseOfNvidiaAndOfKernelsThatAreNotProducts) {
    const std::string call = "aten::add.Tensor(self=bf16[128,197,768], other=bf16[1,197,768])";
    EXPECT_EQ(least(call, find_device("mi300x")), 0);
    EXPECT_EQ(least("aten::mm(self=bf16[128,128], mat2=bf16[128,128])"), 0);
    // A card with fewer units takes longer in proportion.
    const Device a10 = find_device("a10");
    EXPECT_NEAR(least(call, a10) / least(call), cycles_per_s(h200()) / cycles_per_s(a10), 0.03);
}

}  // namespace
}  // namespace joulecast
