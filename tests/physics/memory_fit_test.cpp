#include "joulecast/physics/memory_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast {
namespace {

using ::testing::HasSubstr;

MemoryPlan plan_of(double parameters, double saved, double peak) {
    MemoryPlan plan;
    plan.resident_bytes = plan.parameter_bytes = parameters;
    plan.saved_bytes = saved;
    plan.peak_bytes = peak;
    return plan;
}

Device device_with(double bytes) {
    Device device;
    device.id = "made-up";
    device.memory_bytes = bytes;
    return device;
}

TEST(MemoryFit, CountsWhatStaysAndWhatComes) {
    const auto fit = memory_fit(plan_of(1e9, 2e9, 3e9), device_with(5e9));
    EXPECT_EQ(fit.needed_bytes, 4e9);
    EXPECT_EQ(fit.exceeds_by_bytes(), -1e9);
    EXPECT_EQ(fit.fits(), true);
    EXPECT_EQ(memory_fit(plan_of(1e9, 2e9, 3e9), device_with(4e9)).fits(), true);
    EXPECT_EQ(memory_fit(plan_of(1e9, 2e9, 3e9), device_with(3.9e9)).fits(), false);
}

TEST(MemoryFit, CountsWhatTheAllocatorReserves) {
    MemoryPlan plan = plan_of(1e9, 2e9, 3e9);
    plan.reserved_bytes = 4.5e9;
    EXPECT_EQ(memory_fit(plan, device_with(4.2e9)).fits(), false);
}

TEST(MemoryFit, CountsWhatLibrariesKeep) {
    MemoryPlan plan = plan_of(1e9, 2e9, 3e9);
    plan.library_bytes = 0.5e9;
    EXPECT_EQ(memory_fit(plan, device_with(4.2e9)).needed_bytes, 4.5e9);
}

TEST(MemoryFit, SaysNothingOfAMemoryThatIsNotKnown) {
    const MemoryPlan plan = plan_of(1e9, 2e9, 3e9);
    const Device device = device_with(Device::unknown);
    EXPECT_FALSE(memory_fit(plan, device).fits().has_value());
    EXPECT_EQ(overflow_text(plan, memory_fit(plan, device), device), "");
}

TEST(OverflowText, SaysByHowMuchAndWhatTakesMost) {
    const Device device = device_with(2e9);
    const MemoryPlan saved = plan_of(1e9, 2e9, 3e9);
    EXPECT_EQ(overflow_text(saved, memory_fit(saved, device), device),
              "needs 4.0 GB, 2.0 GB more than the 2.0 GB of made-up; most of it is kept for the backward pass: a "
              "smaller batch, or --checkpointing");
    const MemoryPlan large = plan_of(5e9, 0, 1e8);
    EXPECT_THAT(overflow_text(large, memory_fit(large, device), device), HasSubstr("parameters"));
    const MemoryPlan passing = plan_of(1e8, 0, 3e9);
    EXPECT_THAT(overflow_text(passing, memory_fit(passing, device), device), HasSubstr("between calls"));
    const MemoryPlan small = plan_of(1e8, 0, 1e8);
    EXPECT_EQ(overflow_text(small, memory_fit(small, device), device), "");
}

}  // namespace
}  // namespace joulecast
