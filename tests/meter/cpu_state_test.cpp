#include "joulecast/meter/cpu_state.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/meter/nvml.h"
#include "tests/meter/folder.h"

namespace joulecast {
namespace {

using testing::Folder;

struct Machine {
    Folder root;

    void put(int processor, const std::string& file, const std::string& text) const {
        root.put("sys/devices/system/cpu/cpu" + std::to_string(processor) + "/" + file, text + "\n");
    }
    void put_clock(int processor, int khz, const std::string& governor) const {
        put(processor, "cpufreq/scaling_cur_freq", std::to_string(khz));
        put(processor, "cpufreq/scaling_governor", governor);
    }
};

TEST(CpuState, TheClockIsTheMeanOfTheUsedCores) {
    const Machine machine;
    machine.put_clock(0, 3'000'000, "performance");
    machine.put_clock(1, 2'000'000, "performance");
    machine.put_clock(2, 800'000, "powersave");
    EXPECT_DOUBLE_EQ(CpuStateProbe(machine.root.path(), {0, 1}).read().sm_clock_mhz, 2500.0);
    EXPECT_EQ(CpuStateProbe(machine.root.path(), {0, 1}).read().performance_state, "performance");
    EXPECT_EQ(CpuStateProbe(machine.root.path(), {0, 2}).read().performance_state, "performance+powersave");
}

TEST(CpuState, WithoutAListTheCoresThisProcessMayUseCount) {
    const Machine machine;
    machine.put_clock(0, 3'000'000, "performance");
    machine.put_clock(2, 800'000, "performance");
    machine.root.put("proc/self/status", "Name:\ttest\nCpus_allowed:\t4\nCpus_allowed_list:\t2\n");
    EXPECT_DOUBLE_EQ(CpuStateProbe(machine.root.path()).read().sm_clock_mhz, 800.0);
}

TEST(CpuState, AVirtualMachineTellsItsNominalClock) {
    const Machine machine;
    machine.root.put("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2600.000\n\nprocessor\t: 1\ncpu MHz\t\t: 2700.5\n");
    EXPECT_DOUBLE_EQ(CpuStateProbe(machine.root.path(), {1}).read().sm_clock_mhz, 2700.5);
}

TEST(CpuState, TheHottestSensorOfTheProcessorCounts) {
    const Machine machine;
    machine.root.put("sys/class/hwmon/hwmon0/name", "nvme\n");
    machine.root.put("sys/class/hwmon/hwmon0/temp1_input", "90000\n");
    machine.root.put("sys/class/hwmon/hwmon1/name", "coretemp\n");
    machine.root.put("sys/class/hwmon/hwmon1/temp1_input", "55000\n");
    machine.root.put("sys/class/hwmon/hwmon1/temp2_input", "61500\n");
    EXPECT_DOUBLE_EQ(CpuStateProbe(machine.root.path(), {0}).read().temperature_c, 61.5);
}

TEST(CpuState, TheDieCountsWhereTheControlTemperatureIsRaised) {
    const Machine machine;
    machine.root.put("sys/class/hwmon/hwmon1/name", "k10temp\n");
    machine.root.put("sys/class/hwmon/hwmon1/temp1_label", "Tctl\n");
    machine.root.put("sys/class/hwmon/hwmon1/temp1_input", "87000\n");
    machine.root.put("sys/class/hwmon/hwmon1/temp2_label", "Tdie\n");
    machine.root.put("sys/class/hwmon/hwmon1/temp2_input", "60000\n");
    EXPECT_DOUBLE_EQ(CpuStateProbe(machine.root.path(), {0}).read().temperature_c, 60.0);
}

TEST(CpuState, ABoardIsThrottledWhileTheKernelCoolsItByItsClock) {
    const Machine machine;
    const auto device = [](const std::string& file) { return "sys/class/thermal/cooling_device" + file; };
    machine.root.put(device("0/type"), "pwm-fan\n");
    machine.root.put(device("0/cur_state"), "3\n");  // a fan that turns throttles nothing
    machine.root.put(device("1/type"), "thermal-cpufreq-0\n");
    machine.root.put(device("1/cur_state"), "0\n");
    CpuStateProbe probe(machine.root.path(), {0});
    EXPECT_EQ(probe.read().throttle_reasons, 0u);
    machine.root.put(device("1/cur_state"), "2\n");
    EXPECT_EQ(probe.read().throttle_reasons, throttle::software_thermal);
}

TEST(CpuState, ARaspberryPiTellsHeatApartFromAWeakSupply) {
    const Machine machine;
    const std::string file = "sys/bus/platform/drivers/raspberrypi-firmware/soc:firmware/get_throttled";
    CpuStateProbe probe(machine.root.path(), {0});
    const auto reasons_of = [&](const std::string& text) {
        machine.root.put(file, text + "\n");
        return probe.read().throttle_reasons;
    };
    EXPECT_EQ(reasons_of("0"), 0u);
    EXPECT_EQ(reasons_of("e0000"), 0u);  // has been throttled since it was started, and is not now
    EXPECT_EQ(reasons_of("e0008"), throttle::software_thermal);
    EXPECT_EQ(reasons_of("0x4"), throttle::software_thermal);
    EXPECT_EQ(reasons_of("50005"), throttle::power_brake);
    EXPECT_EQ(reasons_of("what"), 0u);
}

TEST(CpuState, BoardsTellTheirTemperatureByThermalZones) {
    const Machine machine;
    machine.root.put("sys/class/thermal/thermal_zone0/type", "GPU-therm\n");
    machine.root.put("sys/class/thermal/thermal_zone0/temp", "70000\n");
    machine.root.put("sys/class/thermal/thermal_zone1/type", "CPU-therm\n");
    machine.root.put("sys/class/thermal/thermal_zone1/temp", "45500\n");
    EXPECT_DOUBLE_EQ(CpuStateProbe(machine.root.path(), {0}).read().temperature_c, 45.5);
}

TEST(CpuState, ThrottlingIsTheLongestOfCoresAndPackages) {
    const Machine machine;
    machine.put(0, "thermal_throttle/core_throttle_total_time_ms", "1500");
    machine.put(1, "thermal_throttle/package_throttle_total_time_ms", "2500");
    EXPECT_DOUBLE_EQ(CpuStateProbe(machine.root.path(), {0, 1}).read().thermally_limited_s, 2.5);
}

TEST(CpuState, ThrottleEventsSinceTheLastLookAreAReason) {
    const Machine machine;
    machine.put(0, "thermal_throttle/core_throttle_count", "7");
    CpuStateProbe probe(machine.root.path(), {0});
    EXPECT_EQ(probe.read().throttle_reasons, 0u);
    machine.put(0, "thermal_throttle/core_throttle_count", "8");
    EXPECT_EQ(probe.read().throttle_reasons, throttle::hardware_thermal);
    EXPECT_EQ(probe.read().throttle_reasons, 0u);
}

TEST(CpuState, AMachineThatTellsNothingIsNoError) {
    const Machine machine;
    const DeviceState state = CpuStateProbe(machine.root.path()).read();
    EXPECT_TRUE(std::isnan(state.sm_clock_mhz));
    EXPECT_TRUE(std::isnan(state.temperature_c));
    EXPECT_TRUE(std::isnan(state.thermally_limited_s));
    EXPECT_EQ(state.performance_state, "");
}

}  // namespace
}  // namespace joulecast
