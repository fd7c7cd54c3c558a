#include "joulecast/forecast/forward_kernels.h"

#include <gtest/gtest.h>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

// On a card where TF32 brings nothing a convolution is told both ways, by one model.
TEST(ForwardKernels, KeepWaysOfMultiplyingApart) {
    DeviceModel device;
    device.device = find_device("rtx4090");
    const Operation convolution = parse_operation("aten::conv2d(input=f32[8,64,56,56], weight=f32[64,64,3,3])");
    ForwardKernels known;
    const auto seconds = [&](Math math, double told) {
        return known.of(device, prepare(convolution, device.device, math), [&] { return KernelForecast{told}; })
            ->seconds;
    };
    EXPECT_EQ(seconds(Math::ieee, 1), 1);
    EXPECT_EQ(seconds(Math::tf32, 2), 2);
    EXPECT_EQ(seconds(Math::ieee, 3), 1) << "known";
}

}  // namespace
}  // namespace joulecast
