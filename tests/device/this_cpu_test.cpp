#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "joulecast/device/device.h"

namespace joulecast {
namespace {

/// A /proc and /sys of our own, removed afterwards.
class ThisCpu : public ::testing::Test {
  protected:
    void SetUp() override {
        root_ = std::filesystem::temp_directory_path() /
                ("joulecast_cpu_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" +
                 std::to_string(::getpid()));
        std::filesystem::remove_all(root_);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) {
        const auto file = root_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    /// One entry of /proc/cpuinfo.
    static std::string processor(int number, const std::string& model, int core, const std::string& flags) {
        return "processor\t: " + std::to_string(number) + "\nmodel name\t: " + model +
               "\ncpu MHz\t\t: 2000.000\nphysical id\t: 0\ncore id\t\t: " + std::to_string(core) +
               "\nflags\t\t: " + flags + "\n\n";
    }
    Device device() const { return this_cpu(root_.string()); }

    std::filesystem::path root_;
};

TEST_F(ThisCpu, IdComesFromModelAndCores) {
    const std::string model = "AMD EPYC 9B45 96-Core Processor";
    write("proc/cpuinfo", processor(0, model, 0, "avx2") + processor(1, model, 1, "avx2"));
    EXPECT_EQ(device().id, "cpu-amd-epyc-9b45-2c");
    EXPECT_EQ(device().display_name, model);
}

TEST_F(ThisCpu, TradeMarksAndClockDoNotEnterTheId) {
    write("proc/cpuinfo", processor(0, "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", 0, ""));
    EXPECT_EQ(device().id, "cpu-intel-xeon-gold-6230-1c");
}

TEST_F(ThisCpu, VendorIsTheOneThatTheProcessorNames) {
    write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n" + processor(0, "X", 0, "avx2"));
    EXPECT_EQ(device().vendor, "amd");
    EXPECT_DOUBLE_EQ(device().vector_flop_per_s_fp32, device().peak_flop_per_s_fp32);
    EXPECT_DOUBLE_EQ(device().fp32_lanes_per_unit, 16);  // two units of eight lanes
    write("proc/cpuinfo", "vendor_id\t: Unheard Of\n");
    EXPECT_EQ(device().vendor, "");
}

TEST_F(ThisCpu, ArchitectureFollowsFromFamilyAndModel) {
    const auto of = [this](const std::string& vendor, int family, int model) {
        write("proc/cpuinfo", "vendor_id\t: " + vendor + "\ncpu family\t: " + std::to_string(family) +
                                  "\nmodel\t\t: " + std::to_string(model) + "\n" + processor(0, "X", 0, "avx2"));
        return device().architecture;
    };
    EXPECT_EQ(of("GenuineIntel", 6, 85), "skylake");
    EXPECT_EQ(of("GenuineIntel", 6, 143), "sapphire-rapids");
    EXPECT_EQ(of("AuthenticAMD", 25, 1), "zen3");
    EXPECT_EQ(of("AuthenticAMD", 25, 17), "zen4");
    EXPECT_EQ(of("AuthenticAMD", 26, 2), "zen5");
    EXPECT_EQ(of("GenuineIntel", 25, 1), "");
    write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
    EXPECT_EQ(device().architecture, "neoverse-v2");
}

TEST_F(ThisCpu, HyperThreadsOfACoreCountOnce) {
    write("proc/cpuinfo",
          processor(0, "X", 0, "") + processor(1, "X", 0, "") + processor(2, "X", 1, "") + processor(3, "X", 1, ""));
    EXPECT_EQ(device().units, 2);
}

TEST_F(ThisCpu, PeakFollowsFromClockCoresAndVectorWidth) {
    write("proc/cpuinfo", processor(0, "X", 0, "avx2 avx512f avx512_bf16"));
    // 2 units x 16 lanes x 2 FLOP x 2 GHz, and twice that in bfloat16.
    EXPECT_DOUBLE_EQ(device().peak_flop_per_s_fp32, 64.0 * 2e9);
    EXPECT_DOUBLE_EQ(device().peak_flop_per_s_bf16, 128.0 * 2e9);
}

TEST_F(ThisCpu, LargestClockOfTheKernelWinsOverTheMomentaryOne) {
    write("proc/cpuinfo", processor(0, "X", 0, ""));
    write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
    EXPECT_DOUBLE_EQ(device().max_clock_mhz, 3700.0);
}

TEST_F(ThisCpu, LastLevelCacheIsTheHighestDataCache) {
    const std::string caches = "sys/devices/system/cpu/cpu0/cache/index";
    write(caches + "0/level", "1\n");
    write(caches + "0/type", "Data\n");
    write(caches + "0/size", "48K\n");
    write(caches + "1/level", "3\n");
    write(caches + "1/type", "Unified\n");
    write(caches + "1/size", "32768K\n");
    EXPECT_DOUBLE_EQ(device().last_level_cache_bytes, 32.0 * 1024 * 1024);
}

TEST_F(ThisCpu, MemoryIsReadInBytes) {
    write("proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\n");
    EXPECT_DOUBLE_EQ(device().memory_bytes, 1048576.0);
}

TEST_F(ThisCpu, ArmBoardsAreNamedByTheirDeviceTree) {
    write("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\nCPU part\t: 0xd0b\n");
    write("proc/device-tree/model", std::string("Raspberry Pi 5\0", 15));
    EXPECT_EQ(device().id, "cpu-raspberry-pi-5-1c");
}

TEST_F(ThisCpu, WhatCannotBeReadIsNotKnown) {
    const Device nothing = device();
    EXPECT_EQ(nothing.id, "cpu-unknown-1c");
    EXPECT_EQ(nothing.units, 1);
    EXPECT_TRUE(std::isnan(nothing.max_clock_mhz));
    EXPECT_TRUE(std::isnan(nothing.peak_flop_per_s_fp32));
    EXPECT_TRUE(std::isnan(nothing.last_level_cache_bytes));
    EXPECT_TRUE(std::isnan(nothing.memory_bytes));
}

}  // namespace
}  // namespace joulecast
