#include "joulecast/physics/convolution_scratch.h"

#include <gtest/gtest.h>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

/// Two cores at 1 GHz with two fused multiply-adds of `lanes` floats a cycle.
Device cpu(double lanes) {
    Device device;
    device.kind = Device::Kind::cpu;
    device.units = 2;
    device.max_clock_mhz = 1000;
    device.peak_flop_per_s_fp32 = 2e9 * 4 * lanes;
    return device;
}

double scratch(const std::string& text, double lanes = 16) {
    return convolution_scratch_bytes(parse_operation(text), cpu(lanes), 2).value();
}

// Peaks measured with torch 2.13 on two threads of a CPU with AVX-512 (datasets/cpu-amd-epyc-2c.csv), less the output.
TEST(ConvolutionScratch, IsWhatTorchTakes) {
    // 144 and 40 channels in blocks of 16: 144 and 48.
    EXPECT_EQ(scratch("aten::conv2d(input=f32[1,144,28,28], weight=f32[40,144,1,1])"), 504320);
    // The strided 1x1 kernel gathers a line of all channels for each thread; 128 bytes more were measured.
    EXPECT_EQ(scratch("aten::conv2d(input=f32[8,512,28,28], weight=f32[1024,512,1,1], stride=[2,2])"), 15745152 - 128);
    // Small and one image: columns, and none for a 1x1 kernel.
    EXPECT_EQ(scratch("aten::conv2d(input=f32[1,128,7,7], weight=f32[32,128,3,3], padding=[1,1])"), 225792);
    EXPECT_EQ(scratch("aten::conv2d(input=f32[1,64,14,14], weight=f32[384,64,1,1])"), 0);
    // Three channels are read as they are: weights and the blocked output.
    EXPECT_EQ(scratch("aten::conv2d(input=f32[1,3,224,224], weight=f32[768,3,16,16], stride=[16,16])"),
              2961408 - 602112);
    // A slice is made contiguous first.
    EXPECT_EQ(scratch("aten::conv2d(input=f32[4,116,14,14]{45472,196,14,1}, weight=f32[116,116,1,1])"),
              1232128 - 363776);
}

TEST(ConvolutionScratch, ChannelsLastReordersTheWeightsAlone) {
    EXPECT_EQ(scratch("aten::conv2d(input=f32[8,96,56,56]{cl}, weight=f32[192,96,2,2], stride=[2,2])"),
              5419056 - 4816896 - 12336);  // what else was measured is oneDNN's own
}

TEST(ConvolutionScratch, BlocksAreAsWideAsTheRegisters) {
    // 20 channels are 32 in blocks of 16 and 24 in blocks of 8; 4 * 32 * 32 positions of 4 bytes.
    const std::string call = "aten::conv2d(input=f32[4,20,32,32], weight=f32[20,20,1,1])";
    EXPECT_EQ(scratch(call, 16), 4 * (2 * 32 * 4096 + 32 * 32) - 4 * 20 * 4096);
    EXPECT_EQ(scratch(call, 8), 4 * (2 * 24 * 4096 + 24 * 24) - 4 * 20 * 4096);
}

TEST(ConvolutionScratch, IsNotKnownOfOtherOperationsModesAndDevices) {
    const auto bytes = [](const std::string& text, const Device& device) {
        return convolution_scratch_bytes(parse_operation(text), device, 2).has_value();
    };
    const std::string call = "aten::conv2d(input=f32[4,20,32,32], weight=f32[20,20,1,1])";
    EXPECT_TRUE(bytes(call, cpu(16)));
    EXPECT_FALSE(bytes("aten::conv2d(input=f32[4,20,32,32]~, weight=f32[20,20,1,1]~)", cpu(16)));
    EXPECT_FALSE(bytes("aten::conv2d(input=bf16[4,20,32,32], weight=bf16[20,20,1,1])", cpu(16)));
    EXPECT_FALSE(bytes("aten::relu(self=f32[4,20,32,32])", cpu(16)));
    Device gpu = cpu(16);
    gpu.kind = Device::Kind::gpu;
    EXPECT_FALSE(bytes(call, gpu));
}

}  // namespace
}  // namespace joulecast
