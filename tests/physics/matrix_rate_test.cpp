#include "joulecast/physics/matrix_rate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/device/device_table.h"

namespace joulecast {
namespace {

// Fused multiply-adds of an SM in a cycle, as NVIDIA's white papers tell them.
TEST(MatrixRate, IsThatOfTheWhitePapers) {
    EXPECT_NEAR(matrix_rate(find_device("v100-16g-sxm"), Dtype::f16, Math::ieee), 512, 2);
    EXPECT_NEAR(matrix_rate(find_device("a100-80g-sxm"), Dtype::bf16, Math::ieee), 1024, 2);
    EXPECT_NEAR(matrix_rate(find_device("a100-80g-sxm"), Dtype::f32, Math::tf32), 512, 2);
    EXPECT_NEAR(matrix_rate(find_device("rtx3090"), Dtype::f16, Math::ieee), 256, 2);
    EXPECT_NEAR(matrix_rate(find_device("a100-80g-sxm"), Dtype::f32, Math::ieee), 64, 1);
}

TEST(MatrixRate, IsUnknownWithoutAClock) {
    Device device = find_device("a10");
    device.boost_clock_mhz = device.max_clock_mhz = Device::unknown;
    EXPECT_TRUE(std::isnan(matrix_rate(device, Dtype::f16, Math::ieee)));
}

TEST(MatrixRate, IsHalvedOnGraphicsCardsAlone) {
    for (const char* id : {"rtx2080ti", "rtx3090", "rtx4090", "rtx5090"})
        EXPECT_TRUE(adds_at_half_rate(find_device(id))) << id;
    for (const char* id :
         {"p100", "p4", "v100-16g-sxm", "t4", "a10", "a100-80g-sxm", "rtx-a6000", "l40s", "h200", "mi300x"})
        EXPECT_FALSE(adds_at_half_rate(find_device(id))) << id;
}

}  // namespace
}  // namespace joulecast
