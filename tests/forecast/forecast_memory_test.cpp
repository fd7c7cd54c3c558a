#include "joulecast/forecast/forecast_memory.h"

#include <string>

#include <gtest/gtest.h>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

constexpr Device::Kind cpu = Device::Kind::cpu;
constexpr Device::Kind gpu = Device::Kind::gpu;

Device a_device(Device::Kind kind, const std::string& architecture = "") {
    Device device;
    device.kind = kind;
    if (!architecture.empty()) device.vendor = "nvidia";
    device.architecture = architecture;
    return device;
}

StepMemory of(Optimizer optimizer, Device::Kind kind) {
    TrainingSetup training;
    training.optimizer = optimizer;
    return step_memory(training, kind);
}

TEST(StepMemory, StateIsWhatTorchsOptimizersKeep) {
    EXPECT_EQ(of(Optimizer::none, cpu).state_copies, 0);
    EXPECT_EQ(of(Optimizer::sgd, cpu).state_copies, 0);
    EXPECT_EQ(of(Optimizer::momentum, cpu).state_copies, 1);
    EXPECT_EQ(of(Optimizer::adam, cpu).state_copies, 2);
    EXPECT_EQ(of(Optimizer::adamw, gpu).state_copies, 2);
}

TEST(StepMemory, AdamsDenominatorIsTakenForOneParameterOnACpuAndForAllOnAGpu) {
    EXPECT_TRUE(of(Optimizer::adam, cpu).one_by_one);
    EXPECT_FALSE(of(Optimizer::adam, gpu).one_by_one);
    EXPECT_EQ(of(Optimizer::adam, gpu).update_copies, 1);
    EXPECT_EQ(of(Optimizer::momentum, gpu).update_copies, 0);
}

TEST(MemorySettings, ACpuGivesBackAtOnceAndAGpuCaches) {
    EXPECT_EQ(allocation_on(a_device(cpu)).rounding_bytes, 1);
    EXPECT_FALSE(allocation_on(a_device(cpu)).caching);
    EXPECT_EQ(allocation_on(a_device(gpu)).rounding_bytes, 512);
    EXPECT_TRUE(allocation_on(a_device(gpu)).caching);
    // Dropped weights, which no fused kernel of a CPU makes.
    const Operation attention = parse_operation(
        "aten::scaled_dot_product_attention(query=f32[2,4,16,8]~, key=f32[2,4,16,8]~, value=f32[2,4,16,8]~, "
        "dropout_p=0.1)");
    EXPECT_TRUE(memory_settings(a_device(cpu), Host::cpp, {}).kept(attention));
    EXPECT_FALSE(memory_settings(a_device(gpu, "hopper"), Host::cpp, {}).kept(attention));
}

TEST(MemorySettings, CublasTakesWhatPyTorchGivesIt) {
    EXPECT_EQ(allocation_on(a_device(cpu)).library_bytes, 0);
    EXPECT_EQ(allocation_on(a_device(gpu)).library_bytes, 0);  // another vendor's
    EXPECT_EQ(allocation_on(a_device(gpu, "ampere")).library_bytes, 8519680);
    EXPECT_EQ(allocation_on(a_device(gpu, "hopper")).library_bytes, 33554432);
    EXPECT_EQ(allocation_on(a_device(gpu, "blackwell")).library_bytes, 33554432);
}

TEST(MemorySettings, PythonAloneHoldsWhatModulesAreCalledWith) {
    EXPECT_TRUE(memory_settings(a_device(gpu), Host::python, {}).python_holds);
    EXPECT_FALSE(memory_settings(a_device(gpu), Host::cpp, {}).python_holds);
    EXPECT_FALSE(memory_settings(a_device(gpu), Host::graph, {}).python_holds);
}

TEST(MemorySettings, PassOnAccumulationAndCheckpointing) {
    TrainingSetup training;
    training.accumulation = 8;
    training.checkpointing = true;
    const StepMemory step = memory_settings(a_device(gpu), Host::graph, {}, training).step;
    EXPECT_EQ(step.accumulation, 8);
    EXPECT_TRUE(step.checkpointing);
}

TEST(WorkspaceOf, KnowsConvolutionsOfACpuWithoutAModel) {
    DeviceModel device;
    device.device.kind = cpu;
    device.device.units = 2;
    device.device.max_clock_mhz = 1000;
    device.device.peak_flop_per_s_fp32 = 2e9 * 64;
    const Workspace workspace = workspace_of(device, {});
    EXPECT_EQ(workspace(parse_operation("aten::conv2d(input=f32[1,144,28,28], weight=f32[40,144,1,1])")), 504320);
}

// UNet's peak on an H200 is that of this layer and its copies: 3.22 GB (datasets/h200.csv).
TEST(ComputedWorkspace, HoldsTurnedImagesOnAnUnseenGpuOfNvidia) {
    const Operation convolution =
        parse_operation("aten::conv2d(input=f32[32,128,256,256], weight=f32[64,128,3,3], padding=[1,1])");
    DeviceModel device;
    device.device = find_device("h200");
    device.point.math = Math::tf32;
    EXPECT_EQ(computed_workspace(device)(convolution), 0);  // was measured: no rule answers for it
    device.unseen.emplace();
    EXPECT_NEAR(computed_workspace(device)(convolution), 1.611e9, 1e6);
    device.point.math = Math::ieee;
    EXPECT_EQ(computed_workspace(device)(convolution), 0);
    device.point.math = Math::tf32;
    device.device = find_device("mi300x");
    EXPECT_EQ(computed_workspace(device)(convolution), 0);
}

TEST(ComputedWorkspace, IsNoneWhereNothingCanBeComputed) {
    DeviceModel device;
    device.device.kind = gpu;
    const Operation convolution = parse_operation("aten::conv2d(input=f32[1,144,28,28], weight=f32[40,144,1,1])");
    EXPECT_EQ(computed_workspace(device)(convolution), 0);
    device.device.kind = cpu;
    EXPECT_GT(computed_workspace(device)(convolution), 0);
    EXPECT_EQ(computed_workspace(device)(parse_operation("aten::relu(self=f32[4])")), 0);
}

}  // namespace
}  // namespace joulecast
