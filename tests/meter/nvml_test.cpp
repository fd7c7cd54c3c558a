#include "joulecast/meter/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/fake_nvml/fake_nvml.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using testing::FakeNvml;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Nvml open(const std::string& library = FakeNvml::library()) {
    std::string why;
    auto nvml = Nvml::open(library, why);
    if (!nvml) throw std::runtime_error(why);
    return *nvml;
}

NvmlGpu first_gpu() {
    return open().gpus().at(0);
}

TEST(Nvml, AMachineWithoutADriverIsToldSo) {
    std::string why;
    EXPECT_FALSE(Nvml::open("/nowhere/libnvidia-ml.so.1", why));
    EXPECT_THAT(why, HasSubstr("no NVIDIA driver on this machine: "));
    EXPECT_THAT(why, HasSubstr("/nowhere/libnvidia-ml.so.1"));
}

TEST(Nvml, ADriverThatDoesNotStartTellsItsReason) {
    FakeNvml fake;
    fake.state().init_code = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH
    std::string why;
    EXPECT_FALSE(Nvml::open(fake.library(), why));
    EXPECT_THAT(why, HasSubstr("its library no longer fits"));
}

TEST(Nvml, TheLibraryCanBeNamedByTheEnvironment) {
    const FakeNvml fake;
    EXPECT_EQ(default_nvml_library(), FakeNvml::library());
}

TEST(Nvml, TellsWhatACardIs) {
    const FakeNvml fake;
    const NvmlGpu gpu = first_gpu();
    EXPECT_EQ(gpu.facts().index, 0U);
    EXPECT_EQ(gpu.facts().name, "NVIDIA A30");
    EXPECT_EQ(gpu.facts().uuid, "GPU-00000000-fake-fake-fake-000000000000");
    EXPECT_EQ(gpu.facts().pci_bus_id, "00000000:65:00.0");
    EXPECT_EQ(gpu.facts().driver, "550.54.15");
    EXPECT_EQ(gpu.facts().memory_bytes, 24.0 * (1 << 30));
    EXPECT_EQ(gpu.label(), "GPU 0 (NVIDIA A30)");
}

TEST(Nvml, ACardIsFoundByIndexUuidAndTheAddressThatCudaWrites) {
    FakeNvml fake;
    fake.add_gpu();
    const Nvml nvml = open();
    EXPECT_EQ(nvml.gpu("1")->facts().pci_bus_id, "00000000:66:00.0");
    EXPECT_EQ(nvml.gpu("GPU-00000001-fake-fake-fake-000000000000")->facts().index, 1U);
    EXPECT_EQ(nvml.gpu("0000:66:00.0")->facts().index, 1U);
    EXPECT_EQ(nvml.gpu("0000:65:00.0")->facts().index, 0U);
    EXPECT_FALSE(nvml.gpu("2"));
    EXPECT_FALSE(nvml.gpu("0000:67:00.0"));
    EXPECT_FALSE(nvml.gpu("0000:66"));
    EXPECT_FALSE(nvml.gpu(""));
}

TEST(Nvml, AUuidThatCouldBeAPathIsNotTaken) {
    FakeNvml fake;
    std::snprintf(fake.gpu().uuid, sizeof fake.gpu().uuid, "../../etc/passwd");
    EXPECT_EQ(first_gpu().facts().uuid, "");
}

TEST(Nvml, ReadingsAreInSiUnits) {
    FakeNvml fake;
    fake.take_over_time();
    fake.gpu().load = 1;
    const NvmlGpu gpu = first_gpu();
    // 30 W idle and 130 W of work at the highest clock.
    EXPECT_DOUBLE_EQ(gpu.power_usage_w().value, 160);
    EXPECT_DOUBLE_EQ(gpu.field(NvmlField::instant_power_w).value, 160);
    EXPECT_DOUBLE_EQ(gpu.total_energy_j().value, 1000);
    EXPECT_DOUBLE_EQ(gpu.power_limit_w().value, 165);
    EXPECT_DOUBLE_EQ(gpu.power_limits_w().lowest, 100);
    EXPECT_DOUBLE_EQ(gpu.power_limits_w().highest, 165);
    EXPECT_EQ(gpu.clock_mhz(NvmlClock::sm).value, 1440);
    EXPECT_EQ(gpu.clock_mhz(NvmlClock::memory).value, 1215);
    EXPECT_EQ(gpu.max_clock_mhz(NvmlClock::graphics).value, 1440);
    EXPECT_EQ(gpu.temperature_c().value, 41);
    EXPECT_EQ(gpu.performance_state().value, 0);
}

TEST(Nvml, ListsTheClocksThatGoTogether) {
    FakeNvml fake;
    fake.gpu().lowest_graphics_mhz = 1400;
    fake.gpu().memory_clocks_mhz[1] = 405;
    const NvmlGpu gpu = first_gpu();
    EXPECT_THAT(gpu.memory_clocks_mhz(), ElementsAre(1215U, 405U));
    EXPECT_THAT(gpu.graphics_clocks_mhz(1215), ElementsAre(1440U, 1425U, 1410U));
    EXPECT_THAT(gpu.graphics_clocks_mhz(999), IsEmpty());
}

TEST(Nvml, AMissingFunctionIsOneReadingThatIsNotKnown) {
    FakeNvml fake;
    fake.gpu().missing = testing::missing_energy_counter | testing::missing_throttle_reasons;
    const NvmlGpu gpu = first_gpu();
    EXPECT_FALSE(gpu.total_energy_j().known());
    EXPECT_TRUE(std::isnan(gpu.total_energy_j().value));
    EXPECT_EQ(gpu.total_energy_j().code, NvmlCode::function_not_found);
    EXPECT_FALSE(gpu.throttle_reasons());
    EXPECT_TRUE(gpu.power_usage_w().known());
}

TEST(Nvml, AFieldThatTheDriverDoesNotKnowIsNotKnown) {
    const FakeNvml fake;
    EXPECT_EQ(first_gpu().field(static_cast<NvmlField>(9999)).code, NvmlCode::not_supported);
}

TEST(Nvml, AnOldDriverIsReadThroughItsOldNames) {
    const FakeNvml fake;
    const NvmlGpu gpu = open(FakeNvml::old_library()).gpus().at(0);
    EXPECT_EQ(gpu.facts().driver, "361.93");
    EXPECT_EQ(gpu.facts().pci_bus_id, "00000000:65:00.0");
    EXPECT_EQ(gpu.throttle_reasons(), throttle::idle);
    EXPECT_TRUE(gpu.power_usage_w().known());
    EXPECT_FALSE(gpu.total_energy_j().known());
    EXPECT_FALSE(gpu.field(NvmlField::instant_power_w).known());
    EXPECT_EQ(gpu.lock_graphics_clock(900), NvmlCode::function_not_found);
    EXPECT_EQ(gpu.reset_graphics_clock(), NvmlCode::function_not_found);
}

TEST(Nvml, ALostCardSaysSoAndIsNoLongerListed) {
    FakeNvml fake;
    fake.add_gpu();
    const Nvml nvml = open();
    const NvmlGpu gpu = nvml.gpus().at(0);
    fake.gpu(0).lost = true;
    EXPECT_TRUE(is_lost(gpu.power_usage_w().code));
    EXPECT_THAT(describe(gpu.power_usage_w().code), HasSubstr("fell off the bus"));
    EXPECT_TRUE(is_lost(gpu.lock_graphics_clock(900)));
    EXPECT_EQ(nvml.gpu("1")->facts().index, 1U);
}

TEST(Nvml, WithoutTheRightNothingIsChanged) {
    FakeNvml fake;
    fake.gpu().may_change = false;
    const NvmlGpu gpu = first_gpu();
    EXPECT_EQ(gpu.lock_graphics_clock(900), NvmlCode::no_permission);
    EXPECT_EQ(gpu.set_power_limit(120000), NvmlCode::no_permission);
    EXPECT_EQ(describe(NvmlCode::no_permission), "no permission");
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 0U);
    EXPECT_EQ(fake.gpu().power_limit_mw, 165000U);
}

TEST(Nvml, APowerLimitPullsTheClockDownAndSaysSo) {
    FakeNvml fake;
    fake.gpu().load = 1;
    const NvmlGpu gpu = first_gpu();
    ASSERT_EQ(gpu.set_power_limit(100000), NvmlCode::success);
    // 30 + 130 (f / 1440)^3 <= 100 W: f <= 1440 (70 / 130)^(1/3) = 1171.5, in steps of 15 down from 1440: 1170.
    EXPECT_EQ(gpu.clock_mhz(NvmlClock::sm).value, 1170);
    EXPECT_EQ(*gpu.throttle_reasons(), throttle::power_cap);
    EXPECT_EQ(describe_throttle_reasons(*gpu.throttle_reasons()), "power cap");
}

TEST(Nvml, ThrottleReasonsAreNamedAndUnknownBitsAreShown) {
    EXPECT_EQ(describe_throttle_reasons(0), "");
    EXPECT_EQ(describe_throttle_reasons(throttle::idle | throttle::hardware_thermal), "idle, hardware thermal");
    EXPECT_EQ(describe_throttle_reasons(0x8000000000000004ULL), "power cap, 0x8000000000000000");
}

}  // namespace
}  // namespace joulecast
