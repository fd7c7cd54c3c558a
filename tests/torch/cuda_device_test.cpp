// What only a GPU can show. Without one each test skips and says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "joulecast/error.h"
#include "joulecast/measure/rotation.h"
#include "workers/torch/operation_workload.h"
#include "workers/torch/torch_service.h"

namespace joulecast::torch_worker {
namespace {

class Cuda : public ::testing::Test {
  protected:
    void SetUp() override {
        CudaDevices found = open_cuda_devices();
        if (found.devices.empty()) GTEST_SKIP() << found.missing_reason;
        device_ = std::move(found.devices.front());
        OperatingPoint point;
        point.device = device_->name();
        device_->prepare(point, 1);
    }
    void TearDown() override {
        if (device_) device_->clean_up();
    }

    static MeasureSettings quick() {
        MeasureSettings settings;
        settings.time_budget_s = 0.1;
        settings.measure_energy = false;
        return settings;
    }
    static Measurement measured(const std::string& text, OperatingPoint point = {}) {
        point.device = "cuda:0";
        return measure_operation({parse_operation(text), point, quick()}, TorchDevices());
    }

    std::unique_ptr<TorchDevice> device_;
};

TEST(CudaAbsent, ALookForGpusThrowsNothingAndSaysWhyThereIsNone) {
    const CudaDevices found = open_cuda_devices();
    EXPECT_EQ(found.devices.empty(), !found.missing_reason.empty());
}

TEST_F(Cuda, RotatesOverReallyDistinctTensorsBeyondTheCache) {
    const double cache_bytes = device_->facts().last_level_cache_bytes;
    const double set_bytes = 2.0 * 1024 * 1024 * 4;
    const std::int64_t rotation = rotation_for(set_bytes, {0.0, cache_bytes, device_->available_memory_bytes()});
    TensorMaker maker(1, device_->place());
    const OperationSets sets(parse_operation("aten::add.Tensor(self=f32[1024,1024], other=f32[1024,1024])"), rotation,
                             maker);
    std::set<const void*> addresses;
    for (const auto& set : sets.sets()) {
        for (const auto& tensor : set) {
            EXPECT_TRUE(tensor.is_cuda());
            addresses.insert(tensor.data_ptr());
        }
    }
    EXPECT_EQ(addresses.size(), 2 * sets.sets().size());
    EXPECT_GE(static_cast<double>(addresses.size()) * set_bytes / 2.0, 2.0 * cache_bytes);
}

TEST_F(Cuda, ASmallOperationIsLaunchBoundAndTimedAsAGraph) {
    const Measurement measurement = measured("aten::relu(self=f32[256])");
    ASSERT_TRUE(measurement.issue) << measurement.message;
    EXPECT_TRUE(measurement.issue->launch_bound);
    EXPECT_EQ(measurement.issue->device_time_by, "graph");
    EXPECT_LT(measurement.time.mean_s, measurement.issue->eager_s);
}

TEST_F(Cuda, ALargeOneIsNot) {
    const Measurement measurement = measured("aten::matmul(self=f32[4096,4096], other=f32[4096,4096])");
    ASSERT_TRUE(measurement.issue) << measurement.message;
    EXPECT_FALSE(measurement.issue->launch_bound);
    EXPECT_EQ(measurement.issue->device_time_by, "events");
    // No faster than the card's peak allows: 2 n^3 FLOP.
    const double flops = 2.0 * std::pow(4096.0, 3) / measurement.time.mean_s;
    EXPECT_LT(flops, 1.1 * device_->facts().peak_flop_per_s_fp32);
}

TEST_F(Cuda, WhatWaitsForTheDeviceIsTimedBehindASpinningKernel) {
    const Measurement measurement = measured("aten::nonzero(self=f32[256])");
    ASSERT_TRUE(measurement.issue) << measurement.message;
    EXPECT_EQ(measurement.issue->device_time_by, "spin");
}

TEST_F(Cuda, TheSameWorkAfterAFailedCaptureStillRuns) {
    measured("aten::nonzero(self=f32[256])");
    EXPECT_GT(measured("aten::relu(self=f32[256])").time.mean_s, 0.0);
}

TEST_F(Cuda, RandomNumbersAreDrawnAfterAFailedCapture) {
    measured("aten::nonzero(self=f32[256])");
    const Measurement measurement = measured("aten::native_dropout(input=f32[4096,4096], p=0.5, train=true)");
    EXPECT_EQ(measurement.outcome, Outcome::ok) << measurement.message;
}

TEST_F(Cuda, PeakMemoryIsTheResult) {
    EXPECT_DOUBLE_EQ(measured("aten::relu(self=f32[1024,1024])").peak_memory_bytes, 4.0 * 1024 * 1024);
}

TEST_F(Cuda, WorkspaceStandsApartFromThePeak) {
    const Measurement measurement = measured("aten::matmul(self=f32[1024,1024], other=f32[1024,1024])");
    EXPECT_DOUBLE_EQ(measurement.peak_memory_bytes, 4.0 * 1024 * 1024);
    EXPECT_GE(measurement.workspace_bytes, 0.0);
}

TEST_F(Cuda, TooLargeIsOutOfMemoryAndTheNextTrialRuns) {
    EXPECT_EQ(measured("aten::relu(self=f32[1048576,1048576])").outcome, Outcome::out_of_memory);
    EXPECT_EQ(measured("aten::full(size=[1048576,1048576], fill_value=1.0)").outcome, Outcome::out_of_memory);
    EXPECT_GT(measured("aten::relu(self=f32[256])").time.mean_s, 0.0);
}

TEST_F(Cuda, Tf32IsFasterThanIeee) {
    const std::string text = "aten::matmul(self=f32[4096,4096], other=f32[4096,4096])";
    OperatingPoint tf32;
    tf32.math = Math::tf32;
    tf32.device = "cuda:0";
    std::optional<Measurement> fast;
    try {
        fast = measured(text, tf32);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    EXPECT_EQ(fast->real.math, Math::tf32);
    EXPECT_LT(fast->time.mean_s, measured(text).time.mean_s);
}

TEST_F(Cuda, TrainingRunsForwardAndBackward) {
    const Measurement measurement =
        measured("aten::conv2d(input=f32[8,16,32,32]~, weight=f32[32,16,3,3]~, padding=[1,1])");
    ASSERT_TRUE(measurement.forward) << measurement.message;
    EXPECT_GT(measurement.time.mean_s, measurement.forward->mean_s);
}

// As PyTorch's attention gives its result: the gradient that enters there lies alike.
TEST_F(Cuda, AResultWhoseDimensionsLieInAnotherOrderIsTrained) {
    const Measurement measurement = measured("aten::relu(self=f32[8,12,128,64]{98304,64,768,1}~)");
    ASSERT_TRUE(measurement.forward) << measurement.message;
}

TEST_F(Cuda, CreationOperationsRunOnTheDevice) {
    EXPECT_DOUBLE_EQ(measured("aten::full(size=[1024,1024], fill_value=1.0)").peak_memory_bytes, 4.0 * 1024 * 1024);
}

TEST_F(Cuda, AnFp8ProductRunsWhereTheCardHasIt) {
    const auto dtypes = device_->dtypes();
    if (std::find(dtypes.begin(), dtypes.end(), Dtype::f8e4m3fn) == dtypes.end()) {
        GTEST_SKIP() << device_->facts().display_name << " has no fp8";
    }
    const Measurement measurement = measured(
        "aten::_scaled_mm(self=f8e4m3fn[512,512], mat2=f8e4m3fn[512,512]{1,512}, scale_a=f32[], scale_b=f32[], "
        "out_dtype=bf16)");
    EXPECT_GT(measurement.time.mean_s, 0.0) << measurement.message;
}

}  // namespace
}  // namespace joulecast::torch_worker
