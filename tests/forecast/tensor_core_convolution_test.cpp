#include "joulecast/forecast/tensor_core_convolution.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

const Device& a100() {
    static const Device device = find_device("a100-80g-sxm");
    return device;
}

PreparedOperation call(const std::string& signature, Math math = Math::ieee, const Device& device = a100()) {
    return prepare(parse_operation(signature), device, math);
}

std::string convolution(const std::string& input, const std::string& weight, const std::string& more = "") {
    return "aten::conv2d(input=" + input + ", weight=" + weight + more + ")";
}

constexpr const char* square = "aten::conv2d(input=f16[64,256,14,14], weight=f16[256,256,3,3], padding=[1,1])";

TEST(TensorCoreConvolution, IsOneInSixteenBitsOrTf32OverAllChannels) {
    EXPECT_TRUE(runs_on_tensor_cores(call(square), a100()));
    EXPECT_TRUE(runs_on_tensor_cores(call(convolution("bf16[8,3,224,224]", "bf16[64,3,7,7]")), a100()));
    const std::string wide = convolution("f32[8,64,56,56]", "f32[64,64,3,3]");
    EXPECT_TRUE(runs_on_tensor_cores(call(wide, Math::tf32), a100()));
    EXPECT_FALSE(runs_on_tensor_cores(call(wide, Math::ieee), a100()));
    // cuDNN's kernels in TF32 read 16 bytes at a time; three channels of float32 are computed as such.
    EXPECT_FALSE(runs_on_tensor_cores(call(convolution("f32[8,3,224,224]", "f32[64,3,7,7]"), Math::tf32), a100()));
    EXPECT_FALSE(runs_on_tensor_cores(call(convolution("f16[8,64,56,56]", "f16[64,1,3,3]", ", groups=64")), a100()));
    EXPECT_FALSE(runs_on_tensor_cores(call("aten::linear(input=f16[64,64], weight=f16[64,64])"), a100()));
    for (const char* without : {"p100", "gtx1080"})
        EXPECT_FALSE(runs_on_tensor_cores(call(square), find_device(without)));
    // An RTX 5090's sheet rounds its rate to a little less than 256: its convolutions were told as if it had no such.
    for (const char* with : {"v100-32g-pcie", "rtx2080ti", "rtx3090", "rtx4090", "rtx5090", "l4", "l40", "b200"})
        EXPECT_TRUE(runs_on_tensor_cores(call(square), find_device(with))) << with;
}

// An A100 reaches 54 % of its peak at most, a 3090 82 %, whose tensor cores need a quarter of the operands in a cycle.
TEST(TensorCoreConvolution, ReachesLessOfThePeakTheMoreOperandsItTakes) {
    const std::string large = convolution("f16[1024,512,28,28]", "f16[512,512,3,3]", ", padding=[1,1]");
    const auto share = [&](const Device& device) {
        const PreparedOperation ready = call(large, Math::ieee, device);
        return static_cast<double>(ready.dimensions.forward.flop) /
               (tensor_core_convolution_s(ready, device) * peak_flop_per_s(device, Dtype::f16));
    };
    EXPECT_GT(share(a100()), 0.48);
    EXPECT_LT(share(a100()), 0.56);
    EXPECT_GT(share(find_device("rtx3090")), 0.75);
    EXPECT_LT(share(find_device("rtx3090")), 0.85);
}

// The first layers of ResNet, ViT and ConvNeXt took an H200 1,250, 1,040 and 309 us.
TEST(TensorCoreConvolution, OfThreeChannelsIsForVectorUnits) {
    const Device h200 = find_device("h200");
    const auto us = [&](const std::string& weight, const std::string& more) {
        return 1e6 * tensor_core_convolution_s(call(convolution("bf16[128,3,224,224]", weight, more), Math::ieee, h200),
                                               h200);
    };
    EXPECT_NEAR(us("bf16[64,3,7,7]", ", stride=[2,2], padding=[3,3]"), 1250, 250);
    EXPECT_NEAR(us("bf16[768,3,16,16]", ", stride=[16,16]"), 1040, 250);
    EXPECT_NEAR(us("bf16[96,3,4,4]", ", stride=[4,4]"), 309, 130);
}

double bytes_s(const PreparedOperation& ready) {
    const Counts& counts = ready.dimensions.forward;
    return static_cast<double>(counts.bytes_read + counts.bytes_written) / streamed_bytes_per_s(a100());
}

double time_of(const std::string& input, const std::string& weight, const std::string& more = "") {
    return tensor_core_convolution_s(call(convolution(input, weight, more)), a100());
}

TEST(TensorCoreConvolution, TurnsContiguousImagesBeforeAndAfter) {
    const double last = time_of("f16[64,256,14,14]{cl}", "f16[256,256,3,3]{cl}", ", padding=[1,1]");
    const double first = time_of("f16[64,256,14,14]", "f16[256,256,3,3]", ", padding=[1,1]");
    EXPECT_GT(first - last, bytes_s(call(square)));
}

TEST(TensorCoreConvolution, OfOnePixelIsAProductAsItLiesWhereRowsAreAligned) {
    const double last = time_of("f16[64,256,14,14]{cl}", "f16[1024,256,1,1]{cl}");
    EXPECT_NEAR(time_of("f16[64,256,14,14]", "f16[1024,256,1,1]"), last, 0.25 * last);
    // 49 pixels start anywhere: twice the arithmetic, and turned.
    EXPECT_GT(time_of("f16[64,2048,7,7]", "f16[512,2048,1,1]"),
              1.5 * time_of("f16[64,2048,7,7]{cl}", "f16[512,2048,1,1]{cl}"));
    // With a stride it gathers pixels.
    EXPECT_GT(time_of("f16[64,256,28,28]", "f16[512,256,1,1]", ", stride=[2,2]"),
              time_of("f16[64,256,28,28]{cl}", "f16[512,256,1,1]{cl}", ", stride=[2,2]"));
    // Xception's images of 19 x 19 (timm, RTX 3090 and 4090) take no more than those of 20 x 20.
    EXPECT_LT(time_of("f16[256,728,19,19]", "f16[728,728,1,1]"), time_of("f16[256,728,20,20]", "f16[728,728,1,1]"));
    // In TF32 those of 299 x 299 images on an A30 do: its ResNet-101 is told 2 % off with the misfit, 12 without.
    const auto in_tf32 = [](const std::string& input) {
        return tensor_core_convolution_s(call(convolution(input, "f32[728,728,1,1]"), Math::tf32), a100());
    };
    EXPECT_GT(in_tf32("f32[256,728,19,19]"), 1.5 * in_tf32("f32[256,728,20,20]"));
}

// U-Net's took an H200 so many microseconds (datasets/h200.csv).
TEST(TensorCoreConvolution, InTf32OnHopperGoesByTheWidthOfItsTiles) {
    const Device h200 = find_device("h200");
    const auto us = [&](const std::string& input, const std::string& weight) {
        const std::string text = convolution(input, weight, ", padding=[1,1]");
        return 1e6 * tensor_core_convolution_s(call(text, Math::tf32, h200), h200);
    };
    EXPECT_NEAR(us("f32[32,1024,32,32]", "f32[512,1024,3,3]"), 917, 0.2 * 917);
    EXPECT_NEAR(us("f32[32,1024,16,16]", "f32[1024,1024,3,3]"), 499, 0.2 * 499);
    EXPECT_NEAR(us("f32[32,128,128,128]", "f32[128,128,3,3]"), 731, 0.2 * 731);
    EXPECT_NEAR(us("f32[32,64,256,256]", "f32[64,64,3,3]"), 1243, 0.2 * 1243);
    // ResNet-50's in bf16, which are shorter, fill no such tiles: 76 us.
    const PreparedOperation half =
        call(convolution("bf16[128,256,14,14]", "bf16[256,256,3,3]", ", padding=[1,1]"), Math::ieee, h200);
    EXPECT_GT(1e6 * tensor_core_convolution_s(half, h200), 76);
}

/// Microseconds on an H200, and what it took (datasets/h200.csv).
void expect_on_an_h200(const std::string& text, Math math, double measured_us, double within) {
    static const Device h200 = find_device("h200");
    const double us = 1e6 * tensor_core_convolution_s(call(text, math, h200), h200);
    EXPECT_NEAR(us, measured_us, within * measured_us) << text;
}

TEST(TensorCoreConvolution, OfOnePixelHidesTheShorterOfArithmeticAndBytes) {
    const auto expect = [](const char* input, const char* weight, double measured_us) {
        expect_on_an_h200(convolution(input, weight), Math::ieee, measured_us, 0.35);
    };
    // Small ones are a kernel each (datasets/h200-families.csv).
    expect("bf16[32,64,56,56]", "bf16[64,64,1,1]", 8.3);
    expect("bf16[8,256,56,56]", "bf16[64,256,1,1]", 6.3);
    expect("bf16[32,144,28,28]", "bf16[40,144,1,1]", 5.5);
    expect("bf16[32,512,28,28]", "bf16[128,512,1,1]", 13.8);
    expect("bf16[128,64,56,56]", "bf16[64,64,1,1]", 30);
    expect("bf16[128,64,56,56]", "bf16[256,64,1,1]", 75.1);
    expect("bf16[128,256,56,56]", "bf16[64,256,1,1]", 67);
    expect("bf16[128,256,56,56]", "bf16[128,256,1,1]", 84.4);
    expect("bf16[128,128,28,28]", "bf16[512,128,1,1]", 43.1);
    expect("bf16[128,512,28,28]", "bf16[128,512,1,1]", 37.7);
}

// 196 pixels of 2 bytes begin at multiples of 8 bytes, those of 4 bytes at multiples of 16.
TEST(TensorCoreConvolution, OfOnePixelOnHopperWantsRowsOf16Bytes) {
    const std::string half = convolution("bf16[128,256,14,14]", "bf16[1024,256,1,1]");
    expect_on_an_h200(half, Math::ieee, 98.6, 0.3);
    const Device h200 = find_device("h200");
    const PreparedOperation turned =
        call(convolution("bf16[128,256,14,14]{cl}", "bf16[1024,256,1,1]{cl}"), Math::ieee, h200);
    EXPECT_GT(tensor_core_convolution_s(call(half, Math::ieee, h200), h200),
              1.5 * tensor_core_convolution_s(turned, h200));
    const PreparedOperation plain = call(convolution("f32[128,256,14,14]", "f32[1024,256,1,1]"), Math::tf32, h200);
    const PreparedOperation last =
        call(convolution("f32[128,256,14,14]{cl}", "f32[1024,256,1,1]{cl}"), Math::tf32, h200);
    EXPECT_LT(tensor_core_convolution_s(plain, h200), 1.3 * tensor_core_convolution_s(last, h200));
}

TEST(TensorCoreConvolution, TransposedWithAStrideTouchesItsResultAgainAndAgain) {
    const auto expect = [](const std::string& input, const std::string& weight, double measured_us) {
        expect_on_an_h200("aten::conv_transpose2d.input(input=" + input + ", weight=" + weight + ", stride=[2,2])",
                          Math::tf32, measured_us, 0.25);
    };
    expect("f32[32,128,128,128]", "f32[128,64,2,2]", 1242);
    expect("f32[32,256,64,64]", "f32[256,128,2,2]", 632);
    expect("f32[32,512,32,32]", "f32[512,256,2,2]", 366);
    expect("f32[32,1024,16,16]", "f32[1024,512,2,2]", 260);
}

// What an H200 held beside the result, in MB (datasets/h200.csv).
TEST(TensorCoreConvolution, HoldsCopiesOfTheImagesThatItTurns) {
    const Device h200 = find_device("h200");
    const auto mb = [&](const std::string& text, Math math) {
        return 1e-6 * turned_images_bytes(call(text, math, h200), h200);
    };
    const std::string padded = ", padding=[1,1]";
    EXPECT_NEAR(mb(convolution("f32[32,128,256,256]", "f32[64,128,3,3]", padded), Math::tf32), 1610.9, 0.015 * 1610.9);
    EXPECT_NEAR(mb(convolution("f32[32,1024,32,32]", "f32[512,1024,3,3]", padded), Math::tf32), 220.2, 0.015 * 220.2);
    EXPECT_NEAR(mb(convolution("bf16[128,64,56,56]", "bf16[64,64,3,3]", padded), Math::ieee), 103.9, 0.015 * 103.9);
    EXPECT_NEAR(mb(convolution("bf16[128,512,7,7]", "bf16[2048,512,1,1]"), Math::ieee), 32.1, 0.015 * 32.1);
    EXPECT_NEAR(mb(convolution("bf16[128,512,28,28]", "bf16[1024,512,1,1]", ", stride=[2,2]"), Math::ieee), 156.2,
                0.015 * 156.2);
    // Products as they lie, images that lie so, the first layer, and float32 proper take nothing.
    EXPECT_EQ(mb(convolution("bf16[128,64,56,56]", "bf16[256,64,1,1]"), Math::ieee), 0);
    EXPECT_EQ(mb(convolution("bf16[128,96,56,56]{cl}", "bf16[192,96,2,2]{cl}", ", stride=[2,2]"), Math::ieee), 0);
    EXPECT_EQ(mb(convolution("bf16[128,3,224,224]", "bf16[768,3,16,16]", ", stride=[16,16]"), Math::ieee), 0);
    EXPECT_EQ(mb(convolution("f32[8,64,56,56]", "f32[64,64,3,3]", padded), Math::ieee), 0);
}

TEST(TensorCoreConvolution, TakesNoLessForALargerBatch) {
    for (const char* image : {",64,56,56]", ",2048,7,7]"}) {
        double before = 0;
        for (int batch = 1; batch <= 256; batch *= 2) {
            const std::string channels = std::string(image).substr(1, std::string(image).find(',', 1) - 1);
            const double now = time_of("f16[" + std::to_string(batch) + image, "f16[64," + channels + ",1,1]");
            EXPECT_GT(now, before) << image << batch;
            before = now;
        }
    }
}

// Forward and both gradients took an H200 84.6 us of the first and 42.4 of the second, forward alone 22 and 8.
TEST(TensorCoreConvolution, AProductsWeightGradientTurnsBothImages) {
    const Device h200 = find_device("h200");
    const auto passes_us = [&](const std::string& signature, Math math) {
        const PreparedOperation forward = call(signature, math, h200);
        return 1e6 *
               (2 * tensor_core_convolution_s(forward, h200) + weight_gradient_of_product_s(forward, h200).value_or(0));
    };
    EXPECT_NEAR(passes_us(convolution("bf16[32,64,56,56]", "bf16[256,64,1,1]"), Math::ieee), 84.6, 17);
    EXPECT_NEAR(passes_us(convolution("f32[8,256,14,14]", "f32[1024,256,1,1]"), Math::tf32), 42.4, 9);
    EXPECT_FALSE(weight_gradient_of_product_s(call(square, Math::ieee, h200), h200)) << "turned in both passes";
    EXPECT_FALSE(weight_gradient_of_product_s(
        call(convolution("bf16[32,64,56,56]{cl}", "bf16[256,64,1,1]"), Math::ieee, h200), h200));
}

}  // namespace
}  // namespace joulecast
