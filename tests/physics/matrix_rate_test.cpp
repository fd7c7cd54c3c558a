#include "joulecast/physics/matrix_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

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

TEST(SameChip, IsWhatCardsOfOneDesignCarry) {
    const auto same = [](const char* a, const char* b) { return same_chip(find_device(a), find_device(b)); };
    for (const auto& [a, b] : {std::pair{"a100-40g-pcie", "a100-80g-sxm"},
                               {"a100-80g-sxm", "a30"},
                               {"h100-sxm", "h200"},
                               {"h100-pcie", "h100-sxm"},
                               {"v100-16g-sxm", "v100-32g-pcie"},
                               {"l4", "l40s"},
                               {"a10", "a40"},
                               {"rtx3090", "rtx3090"}})
        EXPECT_TRUE(same(a, b)) << a << ' ' << b;
    // Of one architecture, but with other units, at half the rate, or with other memory.
    for (const auto& [a, b] : {std::pair{"a100-80g-sxm", "a10"},
                               {"rtx4090", "l40s"},
                               {"p100", "p4"},
                               {"v100-16g-sxm", "t4"},
                               {"a100-80g-sxm", "h100-sxm"},
                               {"mi210", "a100-80g-sxm"}})
        EXPECT_FALSE(same(a, b)) << a << ' ' << b;
}

}  // namespace
}  // namespace joulecast
