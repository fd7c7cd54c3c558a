#include "cli/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run_command.h"
#include "tests/fake_nvml/fake_nvml.h"

namespace joulecast::cli {
namespace {

using joulecast::testing::TemporaryFolder;
using ::testing::HasSubstr;

void put(const TemporaryFolder& root, const std::string& file, const std::string& text) {
    const auto path = root.path() / file;
    std::filesystem::create_directories(path.parent_path());
    joulecast::testing::write_file(path, text);
}

/// A machine without drivers, whose files are below `root`.
MeterRequest machine(const TemporaryFolder& root) {
    MeterRequest request;
    request.root = root.path();
    request.nvml_library = root.file("no-such-library.so");
    request.nvidia_smi = root.file("no-such-program");
    return request;
}

Finding meter_finding(const TemporaryFolder& root, const std::string& part) {
    for (const Finding& finding : energy_meters(machine(root))) {
        if (finding.part == part) return finding;
    }
    return {};
}

TEST(EnergyMeters, OneThatWorksSaysWhatItCovers) {
    const TemporaryFolder root;
    put(root, "sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put(root, "sys/class/powercap/intel-rapl:0/energy_uj", "123456\n");
    for (const char* part : {"energy meter", "meter rapl"}) {
        const Finding finding = meter_finding(root, part);
        EXPECT_EQ(finding.state, Finding::State::works);
        EXPECT_EQ(finding.found, "rapl:package-0: CPU packages, without memory, counts energy");
        EXPECT_EQ(finding.what_to_do, "");
    }
}

TEST(EnergyMeters, ACounterThatGivesNothingNamesTheCommandThatOpensIt) {
    const TemporaryFolder root;
    // As root, permissions do not stop the reading; an empty counter reads like a forbidden one.
    put(root, "sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put(root, "sys/class/powercap/intel-rapl:0/energy_uj", "");
    const std::string command = "sudo chmod a+r " + root.file("sys/class/powercap/intel-rapl:0/energy_uj");
    EXPECT_EQ(meter_finding(root, "energy meter").state, Finding::State::limited);
    EXPECT_EQ(meter_finding(root, "energy meter").what_to_do, command);
    EXPECT_EQ(meter_finding(root, "meter rapl").what_to_do, command);
}

TEST(EnergyMeters, EveryMissingOneHasItsReasonAndOnlyEnergyIsLost) {
    const TemporaryFolder root;
    const Finding summary = meter_finding(root, "energy meter");
    EXPECT_EQ(summary.state, Finding::State::limited);
    EXPECT_THAT(summary.what_to_do, HasSubstr("time and memory are still measured"));
    for (const char* part : {"meter rapl", "meter hwmon", "meter nvml", "meter nvidia-smi"}) {
        const Finding finding = meter_finding(root, part);
        EXPECT_EQ(finding.state, Finding::State::missing) << part;
        EXPECT_NE(finding.found, "") << part;
        EXPECT_NE(finding.what_to_do, "") << part;
    }
}

TEST(ClockGovernor, OnlyPerformanceOnEveryCoreWorks) {
    const TemporaryFolder root;
    put(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    EXPECT_EQ(clock_governor(root.path()).state, Finding::State::works);
    put(root, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    const Finding mixed = clock_governor(root.path());
    EXPECT_EQ(mixed.state, Finding::State::limited);
    EXPECT_EQ(mixed.found, "performance, powersave");
    EXPECT_THAT(mixed.what_to_do, HasSubstr("cpupower frequency-set -g performance"));
}

TEST(ClockGovernor, AMachineThatShowsNoneSaysSo) {
    const TemporaryFolder root;
    EXPECT_EQ(clock_governor(root.path()).state, Finding::State::limited);
}

TEST(GpuDriver, NamesTheDriverAndItsCards) {
    testing::FakeNvml fake;
    fake.add_gpu();
    const Finding finding = gpu_driver(fake.library());
    EXPECT_EQ(finding.state, Finding::State::works);
    EXPECT_EQ(finding.found, "NVIDIA 550.54.15, GPU 0 (NVIDIA A30), GPU 1 (NVIDIA A30)");
}

TEST(GpuDriver, ADriverWhoseCardsAreLostIsBroken) {
    testing::FakeNvml fake;
    fake.state().gpu_count = 0;
    EXPECT_EQ(gpu_driver(fake.library()).state, Finding::State::broken);
    EXPECT_EQ(gpu_clocks(fake.library()).state, Finding::State::missing);
}

TEST(GpuDriver, AMachineWithoutOneIsMissingIt) {
    EXPECT_EQ(gpu_driver("/nowhere/libnvidia-ml.so.1").state, Finding::State::missing);
    EXPECT_EQ(gpu_clocks("/nowhere/libnvidia-ml.so.1").state, Finding::State::missing);
}

TEST(GpuClocks, ALockThatWasLeftBehindIsReported) {
    testing::FakeNvml fake;
    const TemporaryFolder folder;
    ::setenv("JOULECAST_CLOCK_STATE", folder.path().c_str(), 1);
    put(folder, std::string(fake.gpu().uuid) + ".clocks", "joulecast-clocks 1\ngraphics locked\n");
    const Finding finding = gpu_clocks(fake.library());
    EXPECT_EQ(finding.state, Finding::State::limited);
    EXPECT_THAT(finding.found, HasSubstr("GPU 0 (NVIDIA A30) was left locked"));
    EXPECT_EQ(finding.what_to_do, "joulecast clocks reset");
}

}  // namespace
}  // namespace joulecast::cli
