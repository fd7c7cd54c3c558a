#include "joulecast/recommend/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

Device card(const std::string& vendor, const std::string& architecture) {
    Device device;
    device.kind = Device::Kind::gpu;
    device.vendor = vendor;
    device.architecture = architecture;
    device.display_name = "Example Card";
    device.memory_clock_mhz = 715;
    device.max_clock_mhz = 1480;
    device.tdp_w = 250;
    return device;
}

Candidate at(double clock_mhz, double limit_w = Candidate::unknown) {
    Candidate c;
    c.asked.sm_clock_mhz = clock_mhz;
    c.highest_clock_mhz = 1480;
    c.asked.power_limit_w = limit_w;
    return c;
}

TEST(Apply, LocksTheClockOfAnNvidiaCard) {
    const Application apply = how_to_apply(at(1110), card("nvidia", "ampere"));
    EXPECT_EQ(apply.command, "sudo nvidia-smi -i 0 -lgc 1110,1110");
    EXPECT_EQ(apply.undo, "sudo nvidia-smi -i 0 -rgc");
}

TEST(Apply, SetsAPowerLimitAndPutsItBack) {
    const Application apply = how_to_apply(at(1480, 200), card("nvidia", "ampere"));
    EXPECT_EQ(apply.command, "sudo nvidia-smi -i 0 -pl 200");
    EXPECT_EQ(apply.undo, "sudo nvidia-smi -i 0 -pl 250");
    EXPECT_EQ(how_to_apply(at(1110, 200), card("nvidia", "ampere")).command,
              "sudo nvidia-smi -i 0 -lgc 1110,1110 && sudo nvidia-smi -i 0 -pl 200");
}

TEST(Apply, SetsApplicationClocksOfCardsThatCannotLockThem) {
    EXPECT_EQ(how_to_apply(at(1189), card("nvidia", "pascal")).command, "sudo nvidia-smi -i 0 -ac 715,1189");
    Device unknown = card("nvidia", "maxwell");
    unknown.memory_clock_mhz = Device::unknown;
    EXPECT_EQ(how_to_apply(at(1189), unknown).command, "");
    EXPECT_THAT(how_to_apply(at(1189), unknown).note, HasSubstr("SUPPORTED_CLOCKS"));
}

TEST(Apply, KnowsAmdCards) {
    EXPECT_EQ(how_to_apply(at(1300, 200), card("amd", "cdna2")).command,
              "sudo rocm-smi -d 0 --setperfdeterminism 1300 && sudo rocm-smi -d 0 --setpoweroverdrive 200");
}

TEST(Apply, HasNothingToSetForTheDefaultAndSaysWhereItKnowsNoCommand) {
    Candidate usual = at(1480);
    usual.is_default = true;
    EXPECT_EQ(how_to_apply(usual, card("nvidia", "ampere")).command, "");
    EXPECT_THAT(how_to_apply(usual, card("nvidia", "ampere")).note, HasSubstr("as it comes"));
    EXPECT_THAT(how_to_apply(at(1300), card("intel", "xe")).note, HasSubstr("no command to set the clock of Example"));
}

Candidate run_in(const std::string& precision, const std::string& engine = "torch") {
    Candidate c;
    c.precision = precision;
    c.asked.engine = engine;
    return c;
}

TEST(HowToRun, SaysWhatAProgramWritesForThePrecisionAndTheEngine) {
    const Device gpu = card("nvidia", "ampere");
    EXPECT_EQ(how_to_run(run_in("default"), gpu), "");
    EXPECT_EQ(how_to_run(run_in("bf16"), gpu), "model.to(torch.bfloat16)");
    EXPECT_EQ(how_to_run(run_in("amp-fp16"), gpu), "torch.autocast(\"cuda\", torch.float16)");
    EXPECT_EQ(how_to_run(run_in("tf32", "torch-compile"), gpu),
              "torch.set_float32_matmul_precision(\"high\"), torch.compile(model)");
    EXPECT_EQ(how_to_run(run_in("default", "onnxruntime"), gpu), "onnxruntime.InferenceSession(\"model.onnx\")");
    EXPECT_EQ(how_to_run(run_in("default", "an engine of ours"), gpu), "an engine of ours");
    Candidate last = run_in("bf16");
    last.memory_format = MemoryFormat::channels_last;
    EXPECT_EQ(how_to_run(last, gpu),
              "model.to(torch.bfloat16), model and images .to(memory_format=torch.channels_last)");
}

TEST(HowToRun, AsksForStrictFloatsOnlyWhereTheDefaultIsNotStrict) {
    Device strict = card("nvidia", "pascal"), loose = card("nvidia", "ampere");
    loose.peak_flop_per_s_tf32 = 1e14;
    EXPECT_EQ(how_to_run(run_in("fp32"), strict), "");
    EXPECT_EQ(how_to_run(run_in("fp32"), loose), "torch.backends.cudnn.allow_tf32 = False");
}

}  // namespace
}  // namespace joulecast::testing
