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
    // Channels that lie last have a kernel of their own.
    EXPECT_EQ(pool("bf16[128,64,112,112]{cl}", "kernel_size=[3,3], stride=[2,2], padding=[1,1]"), 0);
}

TEST(EagerKernels, AveragesOverPlanesAreManyShortReductions) {
    expect_just_below(least("aten::adaptive_avg_pool2d(self=bf16[128,2048,7,7], output_size=[1,1])"), 60.4);
    expect_just_below(
        least("aten::adaptive_avg_pool2d(self=f32[32,2048,7,7], output_size=[1,1])", find_device("h100-sxm")), 16.7);
    EXPECT_EQ(least("aten::adaptive_avg_pool2d(self=bf16[128,256,7,7], output_size=[3,3])"), 0);
}

TEST(EagerKernels, CopiesIntoAnotherOrderMoveOneElementAtATime) {
    const std::string heads = "{768,294912,2304,1}";
    EXPECT_NEAR(least("aten::contiguous(self=bf16[3,197,128,768]" + heads + ")"), 142.1, 0.05 * 142.1);
    EXPECT_NEAR(least("aten::reshape(self=bf16[32,8,4,128,64]{65536,64,0,512,1}, shape=[32,32,128,64])"), 26.6,
                0.25 * 26.6);
    expect_just_below(least("aten::cat(tensors=[bf16[32,32,128,32]{131072,32,1024,1}, "
                            "bf16[32,32,128,32]{262144,64,2048,1}], dim=-1)"),
                      37.4);
    EXPECT_EQ(least("aten::contiguous(self=bf16[3,197,128,768])"), 0);  // copies nothing
    EXPECT_EQ(least("aten::clone(self=bf16[8,64,56,56]{cl})"), 0);      // keeps the order
    EXPECT_GT(least("aten::clone(self=bf16[8,64,56,56]{401408,3136,112,1})"), 0);
    EXPECT_EQ(least("aten::cat(tensors=[bf16[32,64,56,56], bf16[32,64,56,56]], dim=1)"), 0);
}

TEST(EagerKernels, AreThoseOfNvidiaAndOfKernelsThatAreNotProducts) {
    const std::string call = "aten::add.Tensor(self=bf16[128,197,768], other=bf16[1,197,768])";
    EXPECT_EQ(least(call, find_device("mi300x")), 0);
    EXPECT_EQ(least("aten::mm(self=bf16[128,128], mat2=bf16[128,128])"), 0);
    // A card with fewer units takes longer in proportion.
    const Device a10 = find_device("a10");
    EXPECT_NEAR(least(call, a10) / least(call), cycles_per_s(h200()) / cycles_per_s(a10), 1e-9);
}

}  // namespace
}  // namespace joulecast
