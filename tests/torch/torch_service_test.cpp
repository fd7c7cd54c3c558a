#include "workers/torch/torch_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "joulecast/error.h"

namespace joulecast::torch_worker {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

/// As short as can be: these tests ask what is measured, not how well.
MeasureSettings short_settings() {
    MeasureSettings settings;
    settings.warm_up_s = 0.0;
    settings.time_budget_s = 1e-3;
    settings.min_block_s = 1e-5;
    settings.working_set_bytes = 1 << 20;
    settings.threads = 1;
    return settings;
}

const TorchDevices& devices() {
    static const TorchDevices devices;
    return devices;
}

Measurement measured(const std::string& text) {
    protocol::Measure request{parse_operation(text), {}, short_settings()};
    request.point.device = "cpu";
    return measure_operation(request, devices());
}

/// The operations of the brief: each in inference and training, float32 and bfloat16.
class AnyOperation : public ::testing::TestWithParam<const char*> {};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

TEST_P(AnyOperation, IsMeasuredInBothModesAndPrecisions) {
    for (const std::string dtype : {"f32", "bf16"}) {
        for (const std::string mark : {"", "~"}) {
            const std::string text = replaced(replaced(GetParam(), "FLOAT", dtype), "~", mark);
            const Measurement measurement = measured(text);
            const bool timed = measurement.outcome == Outcome::ok || measurement.outcome == Outcome::unstable;
            EXPECT_TRUE(timed) << text << ": " << name(measurement.outcome) << " " << measurement.message;
            EXPECT_GT(measurement.time.mean_s, 0.0) << text;
            EXPECT_EQ(measurement.forward.has_value(), mark == "~") << text;
            EXPECT_GE(measurement.peak_memory_bytes, 0.0) << text;
            EXPECT_GE(measurement.rotation, 2) << text;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, AnyOperation,
    ::testing::Values(
        "aten::conv2d(input=FLOAT[2,8,16,16]~, weight=FLOAT[16,8,3,3]~, bias=FLOAT[16]~, padding=[1,1])",
        "aten::linear(input=FLOAT[4,32]~, weight=FLOAT[64,32]~, bias=FLOAT[64]~)", "aten::relu_(self=FLOAT[4,64]~)",
        "aten::batch_norm(input=FLOAT[4,8,6,6]~, weight=FLOAT[8]~, bias=FLOAT[8]~, running_mean=FLOAT[8], "
        "running_var=FLOAT[8], training=true, momentum=0.1, eps=1e-05, cudnn_enabled=true)",
        "aten::embedding(weight=FLOAT[100,16]~, indices=i64[4,8])",
        "aten::layer_norm(input=FLOAT[4,32]~, normalized_shape=[32], weight=FLOAT[32]~, bias=FLOAT[32]~)",
        "aten::scaled_dot_product_attention(query=FLOAT[1,2,8,16]~, key=FLOAT[1,2,8,16]~, value=FLOAT[1,2,8,16]~)",
        "aten::cat(tensors=[FLOAT[4,8]~, FLOAT[4,8]~], dim=1)",
        "aten::max_pool2d(self=FLOAT[1,4,8,8]~, kernel_size=[2,2])",
        "aten::dropout(input=FLOAT[64]~, p=0.5, train=true)",
        "aten::add_.Tensor(self=FLOAT[4,64]~, other=FLOAT[4,64]~)", "aten::softmax.int(self=FLOAT[4,64]~, dim=-1)",
        "aten::mean.dim(self=FLOAT[2,8,4,4]~, dim=[2,3])", "aten::gelu(self=FLOAT[4,64]~)"));

TEST(TorchService, OutcomesTellFailuresApart) {
    const Measurement unknown = measured("aten::no_such_operation(self=f32[8])");
    EXPECT_EQ(unknown.outcome, Outcome::unsupported);
    EXPECT_THAT(unknown.message, HasSubstr("aten::no_such_operation"));
    const Measurement misfit = measured("aten::matmul(self=f32[8,3], other=f32[5,8])");
    EXPECT_EQ(misfit.outcome, Outcome::unsupported);
    EXPECT_THAT(misfit.message, HasSubstr("8x3 and 5x8"));
    // Inputs of 4 TB, and a result of 4 TB from small inputs.
    EXPECT_EQ(measured("aten::relu(self=f32[1048576,1048576])").outcome, Outcome::out_of_memory);
    EXPECT_EQ(measured("aten::full(size=[1048576,1048576], fill_value=1.0)").outcome, Outcome::out_of_memory);
    // Unstable when something else uses the machine; timed all the same.
    EXPECT_THAT(measured("aten::relu(self=f32[8])").outcome, AnyOf(Outcome::ok, Outcome::unstable)) << "after all that";
}

TEST(TorchService, PeakMemoryIsWhatTheCallAdds) {
    // The result of [64,64] in float32, inputs not counted.
    EXPECT_DOUBLE_EQ(measured("aten::relu(self=f32[64,64])").peak_memory_bytes, 16384.0);
    EXPECT_DOUBLE_EQ(measured("aten::relu_(self=f32[64,64])").peak_memory_bytes, 0.0);
}

TEST(TorchService, RotatesOverTheAskedWorkingSet) {
    const Measurement measurement = measured("aten::relu(self=f32[64,64])");
    EXPECT_EQ(measurement.rotation, 64);  // 1 MiB of 16 KiB
    EXPECT_DOUBLE_EQ(measurement.working_set_bytes, 1048576.0);
}

TEST(TorchService, NonFiniteResultsAreMentioned) {
    EXPECT_THAT(measured("aten::full(size=[8], fill_value=inf)").message, HasSubstr("infinities"));
}

TEST(TorchService, AnotherDeviceOrTooManyThreadsAreRefused) {
    protocol::Measure request{parse_operation("aten::relu(self=f32[8])"), {}, short_settings()};
    request.point.device = "cuda:99";
    EXPECT_THROW(measure_operation(request, devices()), Error);
    request.point.device = "cpu";
    request.settings.threads = 60000;
    EXPECT_THROW(measure_operation(request, devices()), Error);
}

/// The message with which a CPU refuses to be measured at that point.
std::string refusal(const OperatingPoint& point) {
    protocol::Measure request{parse_operation("aten::relu(self=f32[8])"), point, short_settings()};
    try {
        measure_operation(request, devices());
    } catch (const Error& error) {
        return error.what();
    }
    return "measured";
}

TEST(TorchService, ACpuRefusesWhatItCannotBeHadAtAndSaysWhy) {
    OperatingPoint point;
    point.device = "cpu";
    point.math = Math::tf32;
    EXPECT_THAT(refusal(point), HasSubstr("only GPUs have it"));
    point = {};
    point.sm_clock_mhz = 1000.0;
    EXPECT_THAT(refusal(point), HasSubstr("governor"));
    point = {};
    point.power_limit_w = 100.0;
    EXPECT_THAT(refusal(point), HasSubstr("power limit"));
    point = {};
    point.host = Host::graph;
    EXPECT_THAT(refusal(point), HasSubstr("captured on CUDA GPUs only"));
    point.host = Host::python;
    EXPECT_THAT(refusal(point), HasSubstr("worker that runs Python"));
}

TEST(TorchService, HelloSaysWhoAndWhat) {
    const auto hello = torch_service().hello();
    EXPECT_THAT(hello.provenance.framework, HasSubstr("torch 2."));
    EXPECT_EQ(hello.device.id, devices().chosen().facts().id);
    EXPECT_EQ(hello.device_names.back(), "cpu");
    EXPECT_TRUE(hello.measures_graphs);
}

}  // namespace
}  // namespace joulecast::torch_worker
