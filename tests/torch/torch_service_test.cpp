#include "workers/torch/torch_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "joulecast/error.h"
#include "joulecast/measure/recipe.h"

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
    settings.measure_energy = false;
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
    // Once lost when the time was unstable too: both are said.
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
    point.device = "cpu";
    point.sm_clock_mhz = 1000.0;
    EXPECT_THAT(refusal(point), HasSubstr("governor"));
    point = {};
    point.device = "cpu";
    point.power_limit_w = 100.0;
    EXPECT_THAT(refusal(point), HasSubstr("power limit"));
    point = {};
    point.device = "cpu";
    point.host = Host::graph;
    EXPECT_THAT(refusal(point), HasSubstr("captured on CUDA GPUs only"));
    point.host = Host::python;
    EXPECT_THAT(refusal(point), HasSubstr("joulecast-python"));
}

/// A file in the test's temporary folder.
std::string written(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + name;
    std::ofstream(path) << text;
    return path;
}

Measurement with_meter(const std::string& meter) {
    protocol::Measure request{parse_operation("aten::matmul(self=f32[64,64], other=f32[64,64])"), {}, short_settings()};
    request.point.device = "cpu";
    request.settings.measure_energy = true;
    request.settings.meter = meter;
    request.settings.energy_window_s = 0.1;
    return measure_operation(request, devices());
}

TEST(TorchService, EnergyIsWhatTheReplayedTraceImplies) {
    // 20 W for ten minutes, a joule counter beside it.
    const Measurement measurement =
        with_meter("replay:" + written("steady.csv", "time_s,power_w,energy_j\n0,20,0\n300,20,6000\n600,20,12000\n"));
    ASSERT_TRUE(measurement.energy) << measurement.energy_missing_reason;
    EXPECT_NEAR(measurement.energy->power_w, 20.0, 0.2);
    EXPECT_GE(measurement.energy->window_s, 0.1);
    // Power times the mean length of a call: all calls together last as long as the load was on, which is longer than
    // the window and shorter than the whole measurement.
    const double load_s = measurement.energy->energy_j / 20.0 * static_cast<double>(measurement.energy->calls);
    EXPECT_GT(load_s, 0.5 * measurement.energy->window_s);
    EXPECT_LT(load_s, measurement.wall_s);
    EXPECT_THAT(measurement.energy->meter, HasSubstr("replay"));
}

TEST(TorchService, WithoutAMeterTheReasonIsGivenAndTimeIsKept) {
    const Measurement none = with_meter("none");
    EXPECT_FALSE(none.energy);
    EXPECT_NE(none.energy_missing_reason, "");
    EXPECT_GT(none.time.mean_s, 0.0);
    EXPECT_THAT(with_meter("replay:/nowhere.csv").energy_missing_reason, HasSubstr("/nowhere.csv"));
}

TEST(Metering, CalibratesOnceAndTakesTheResultFromItsFolderThen) {
    Metering metering((MeterRequest()));
    const std::string trace = written("calibrated.csv", "time_s,power_w\n0,20\n300,20\n600,20\n");
    ASSERT_NE(metering.open("replay:" + trace).meter, nullptr);
    const std::string folder = ::testing::TempDir() + "calibration-" + std::to_string(::getpid());
    const CalibrationKey key{"cpu-x-1c", "6.1", "current", ""};
    Calibration stored;
    stored.meter = "replay:" + trace;
    stored.period_s = 0.125;
    stored.idle_power_w = 7.0;
    CalibrationKey full = key;
    full.meter = stored.meter;
    ASSERT_EQ(store_calibration(calibration_path(folder, full), full, stored), "");
    // The load is never run: what the folder holds is enough.
    struct Untouched final : Workload {
        void run(std::int64_t, bool) override { ADD_FAILURE() << "calibrated anew"; }
        std::int64_t rotation() const override { return 1; }
    } load;
    SteadyClock clock;
    EXPECT_EQ(metering.calibrate(key, load, 1e-3, clock, folder).idle_power_w, 7.0);
    EXPECT_EQ(metering.open("replay:" + trace).traits.idle_power_w, 7.0);
    EXPECT_EQ(metering.open("replay:" + trace).traits.period_s, 0.125);
    std::filesystem::remove_all(folder);
}

TEST(TorchService, PreparingWithoutAMeterSaysWhyAndGivesThePoint) {
    protocol::Prepare request;
    request.point.device = "cpu";
    request.settings = short_settings();
    request.settings.measure_energy = true;
    request.settings.meter = "none";
    const protocol::Prepared prepared = torch_service().prepare(request);
    EXPECT_EQ(prepared.real.device, devices().find("cpu").facts().id);
    EXPECT_EQ(prepared.meter, "");
    EXPECT_NE(prepared.message, "");
}

TEST(TorchService, EnergyIsAnnouncedOnlyWhereThereIsAMeter) {
    const auto hello = torch_service().hello();
    EXPECT_NE(hello.measures_energy, !hello.energy_missing_reason.empty());
}

TEST(TorchService, ATrainingStepKeepsItsOptimizersStateInItsPeak) {
    // y = x W^T with W of 64 x 64 floats; Adam keeps two moments of the size of W, 2 x 16384 bytes.
    protocol::MeasureGraph request;
    const TensorType x{Dtype::f32, {4, 64}};
    const TensorType w{Dtype::f32, {64, 64}};
    request.graph.mode = Mode::training;
    request.graph.inputs = {{"x", GraphInput::Kind::user_input, x, {}}, {"w", GraphInput::Kind::parameter, w, {}}};
    Node node;
    node.operation = parse_operation("aten::linear(input=f32[4,64], weight=f32[64,64]~)");
    node.inputs = {{-1, 0}, {-1, 1}};
    node.outputs = {x};
    request.graph.nodes = {node};
    request.graph.outputs = {{0, 0}};
    request.settings = short_settings();
    request.point.device = "cpu";
    const NetworkMeasurement without = measure_network(request, devices());
    request.optimizer = Optimizer::adam;
    const NetworkMeasurement with = measure_network(request, devices());
    ASSERT_GT(with.time.mean_s, 0.0) << with.message;
    EXPECT_EQ(with.optimizer, Optimizer::adam);
    // Adam's temporaries come on top of its state, while the activations are gone: no more than two of W's size.
    EXPECT_GE(with.peak_memory_bytes, without.peak_memory_bytes + 2 * 16384.0);
    EXPECT_LE(with.peak_memory_bytes, without.peak_memory_bytes + 4 * 16384.0);
}

TEST(TorchService, HelloSaysWhoAndWhat) {
    const auto hello = torch_service().hello();
    EXPECT_THAT(hello.provenance.framework, HasSubstr("torch 2."));
    EXPECT_EQ(hello.device.id, devices().chosen().facts().id);
    EXPECT_EQ(hello.device_names.back(), "cpu");
    EXPECT_TRUE(hello.measures_graphs);
}

TEST(TorchService, TimesGivenNumbersOfCalls) {
    protocol::TimeRuns request;
    request.point.device = "cpu";
    request.settings = short_settings();
    request.calls = {1, 2000, 3};
    for (const char* text : {"aten::relu(self=f32[64,64])", "aten::relu(self=f32[64,64]~)"}) {
        request.operation = parse_operation(text);
        const auto runs = torch_service().time_runs(request).runs;
        ASSERT_EQ(runs.size(), 3U);
        EXPECT_EQ(runs[1].calls, 2000);
        EXPECT_EQ(runs[2].calls, 3);
        EXPECT_GT(runs[0].runtime_s, 0);
        EXPECT_GT(runs[1].runtime_s, runs[2].runtime_s);
    }
    request.operation = parse_operation("aten::no_such_operation(self=f32[8])");
    EXPECT_THROW(torch_service().time_runs(request), Error);
}

}  // namespace
}  // namespace joulecast::torch_worker
