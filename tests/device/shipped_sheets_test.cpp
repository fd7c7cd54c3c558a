#include "joulecast/device/shipped_sheets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "joulecast/device/device_table.h"
#include "joulecast/device/figures.h"

namespace joulecast {
namespace {

std::vector<DataSheet> of_kind(Device::Kind kind) {
    std::vector<DataSheet> all = DeviceTable().sheets();
    std::erase_if(all, [kind](const DataSheet& sheet) { return sheet.device.kind != kind; });
    return all;
}

const std::vector<DataSheet>& sheets() {
    static const std::vector<DataSheet> gpus = of_kind(Device::Kind::gpu);
    return gpus;
}

/// Data sheets round to two or three digits.
constexpr double rounding = 0.02;

void expect_close(double told, double computed, const std::string& what) {
    EXPECT_NEAR(told / computed, 1.0, rounding) << what << ": " << told << " against " << computed;
}

/// FLOP per unit and cycle of dense matrix products with sums in float32, from the vendors' architecture white papers:
/// tensor cores per SM x multiply-adds of a tensor core x 2. GeForce cards have half of the rate of their siblings.
struct MatrixRate {
    double fp16;
    double tf32;
};
MatrixRate matrix_rate(const Device& device) {
    static const std::map<std::string, MatrixRate, std::less<>> by_architecture = {
        {"volta", {1024, 0}},     {"turing", {1024, 0}},      {"ampere", {1024, 512}}, {"ada", {1024, 512}},
        {"hopper", {4096, 2048}}, {"blackwell", {1024, 512}}, {"cdna", {1024, 0}},     {"cdna2", {1024, 0}},
        {"cdna3", {2048, 1024}},  {"xe2", {2048, 0}}};
    static const std::set<std::string, std::less<>> of_a100 = {"a100-40g-pcie", "a100-40g-sxm", "a100-80g-pcie",
                                                               "a100-80g-sxm",  "a30",          "jetson-orin"};
    MatrixRate rate = by_architecture.at(device.architecture);
    if (of_a100.contains(device.id)) rate = {2048, 1024};
    if (device.id == "b200" || device.id == "gb200") rate = {8192, 4096};
    const bool halved = device.display_name.find("GeForce") != std::string::npos || device.id == "l40";
    return halved ? MatrixRate{rate.fp16 / 2, rate.tf32 / 2} : rate;
}

double matrix_clock_hz(const Device& device) {
    return 1e6 * (std::isnan(device.matrix_clock_mhz) ? device.boost_clock_mhz : device.matrix_clock_mhz);
}

TEST(ShippedSheets, AreAllFilesOfTheFolder) {
    std::set<std::string> files, compiled_in;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(JOULECAST_SOURCE_DIR) + "/devices"))
        if (entry.path().extension() == ".json") files.insert(entry.path().stem().string());
    for (const ShippedSheet& sheet : shipped_sheets()) compiled_in.insert(std::string(sheet.id));
    EXPECT_EQ(files, compiled_in) << "the list is in joulecast/device/CMakeLists.txt";
    for (const ShippedSheet& sheet : shipped_sheets())
        EXPECT_EQ(parse_data_sheet(sheet.json, "sheet").device.id, sheet.id);
}

TEST(ShippedSheets, AreFoundByTheNamesThatTheyTellOnceRead) {
    for (const ShippedSheet& shipped : shipped_sheets()) {
        const DataSheet sheet = parse_data_sheet(shipped.json, "sheet");
        std::vector<std::string> told = {sheet.device.display_name};
        told.insert(told.end(), sheet.aliases.begin(), sheet.aliases.end());
        EXPECT_EQ(std::vector<std::string>(shipped.names.begin(), shipped.names.end()), told) << shipped.id;
    }
}

TEST(ShippedSheets, KnowWhatEveryForecastNeeds) {
    for (const DataSheet& sheet : sheets()) {
        const Device& d = sheet.device;
        EXPECT_FALSE(d.vendor.empty() || d.architecture.empty()) << d.id;
        EXPECT_GT(d.units, 0) << d.id;
        for (const char* needed : {"fp32_lanes_per_unit", "boost_clock_mhz", "memory_clock_mhz", "memory_bus_bits",
                                   "peak_flop_per_s_fp32", "vector_flop_per_s_fp32", "bandwidth_bytes_per_s",
                                   "last_level_cache_bytes", "memory_bytes", "tdp_w", "process_nm", "release_year"}) {
            EXPECT_FALSE(std::isnan(d.*find_figure(needed)->value)) << d.id << " " << needed;
            EXPECT_FALSE(sheet.sources.at(needed).empty()) << d.id << " " << needed;
        }
    }
}

TEST(ShippedSheets, VectorRateIsLanesTimesClock) {
    for (const DataSheet& sheet : sheets()) {
        const Device& d = sheet.device;
        expect_close(d.vector_flop_per_s_fp32, 2 * d.units * d.fp32_lanes_per_unit * d.boost_clock_mhz * 1e6, d.id);
        if (d.vendor == "nvidia") {
            EXPECT_EQ(d.peak_flop_per_s_fp32, d.vector_flop_per_s_fp32) << d.id;
        }
    }
}

TEST(ShippedSheets, MatrixRatesAreThoseOfTheArchitectureAndDense) {
    const std::set<std::string, std::less<>> without = {"kepler", "maxwell", "pascal"};
    for (const DataSheet& sheet : sheets()) {
        const Device& d = sheet.device;
        if (without.contains(d.architecture)) {
            EXPECT_TRUE(std::isnan(d.peak_flop_per_s_bf16) && std::isnan(d.peak_flop_per_s_tf32)) << d.id;
            continue;
        }
        const MatrixRate rate = matrix_rate(d);
        const double cycles_per_s = d.units * matrix_clock_hz(d);
        expect_close(d.peak_flop_per_s_fp16, rate.fp16 * cycles_per_s, d.id + " fp16");
        if (rate.tf32 > 0) expect_close(d.peak_flop_per_s_tf32, rate.tf32 * cycles_per_s, d.id + " tf32");
        // CDNA 1 multiplies bf16 at half the rate of fp16; everyone else at the same.
        if (!std::isnan(d.peak_flop_per_s_bf16))
            expect_close(d.peak_flop_per_s_bf16, d.peak_flop_per_s_fp16 / (d.id == "mi100" ? 2 : 1), d.id + " bf16");
        if (!std::isnan(d.peak_flop_per_s_fp8))
            expect_close(d.peak_flop_per_s_fp8, 2 * d.peak_flop_per_s_fp16, d.id + " fp8");
    }
}

TEST(ShippedSheets, BandwidthIsTwoTransfersACycleOfTheMemoryClock) {
    for (const DataSheet& sheet : sheets()) {
        const Device& d = sheet.device;
        expect_close(d.bandwidth_bytes_per_s, 2 * d.memory_clock_mhz * 1e6 * d.memory_bus_bits / 8, d.id);
    }
}

TEST(ShippedSheets, OnlyArchitecturesThatHaveATypeNameARateForIt) {
    const std::set<std::string, std::less<>> no_bf16 = {"kepler", "maxwell", "pascal", "volta", "turing"};
    const std::set<std::string, std::less<>> fp8 = {"ada", "hopper", "blackwell", "cdna3"};
    for (const DataSheet& sheet : sheets()) {
        const Device& d = sheet.device;
        EXPECT_EQ(std::isnan(d.peak_flop_per_s_bf16), no_bf16.contains(d.architecture)) << d.id;
        EXPECT_EQ(!std::isnan(d.peak_flop_per_s_fp8), fp8.contains(d.architecture)) << d.id;
        EXPECT_EQ(!std::isnan(d.peak_flop_per_s_fp4), d.architecture == "blackwell") << d.id;
    }
}

TEST(ShippedSheets, ClocksAndPowersAreInOrder) {
    for (const DataSheet& sheet : sheets()) {
        const Device& d = sheet.device;
        if (!std::isnan(d.base_clock_mhz)) {
            EXPECT_LE(d.base_clock_mhz, d.boost_clock_mhz) << d.id;
        }
        if (!std::isnan(d.max_clock_mhz)) {
            EXPECT_LE(d.boost_clock_mhz, d.max_clock_mhz) << d.id;
        }
        if (!std::isnan(d.matrix_clock_mhz)) {
            EXPECT_LE(d.matrix_clock_mhz, d.boost_clock_mhz) << d.id;
        }
        if (!std::isnan(d.idle_w)) {
            EXPECT_LT(d.idle_w, 0.4 * d.tdp_w) << d.id;
        }
    }
}

TEST(ShippedSheets, OfCpusKnowWhatIssuingNeeds) {
    const std::vector<DataSheet> cpus = of_kind(Device::Kind::cpu);
    EXPECT_GE(cpus.size(), 30U);
    for (const DataSheet& sheet : cpus) {
        const Device& d = sheet.device;
        EXPECT_FALSE(d.vendor.empty() || d.architecture.empty()) << d.id;
        EXPECT_GT(d.units, 0) << d.id;
        EXPECT_FALSE(std::isnan(d.base_clock_mhz) && std::isnan(d.boost_clock_mhz)) << d.id;
        EXPECT_FALSE(d.base_clock_mhz > d.boost_clock_mhz) << d.id;
        EXPECT_FALSE(std::isnan(d.last_level_cache_bytes)) << d.id;
        EXPECT_FALSE(sheet.sources.at("units").empty()) << d.id;
    }
}

TEST(ShippedSheets, CoverEveryIdThatTheCommandLinePromises) {
    const DeviceTable table;
    for (const char* id : {"h200",
                           "h100-sxm",
                           "h100-pcie",
                           "h100-nvl",
                           "gh200",
                           "b200",
                           "gb200",
                           "a100-40g-pcie",
                           "a100-40g-sxm",
                           "a100-80g-pcie",
                           "a100-80g-sxm",
                           "a30",
                           "a10",
                           "a40",
                           "l4",
                           "l40s",
                           "t4",
                           "v100-16g-pcie",
                           "v100-16g-sxm",
                           "v100-32g-pcie",
                           "v100-32g-sxm",
                           "p100",
                           "p100-sxm",
                           "p4",
                           "rtx2080ti",
                           "rtx3080ti",
                           "rtx3090",
                           "rtx4090",
                           "rtx5090",
                           "rtx6000-ada",
                           "rtx-pro-6000",
                           "rtx8000",
                           "rtx2070super",
                           "gtx980",
                           "gtx1070",
                           "gtx1080ti",
                           "titanx-maxwell",
                           "titanxp",
                           "jetson-orin",
                           "mi100",
                           "mi210",
                           "mi250",
                           "mi300x",
                           "arc-b60"}) {
        ASSERT_NE(table.find(id), nullptr) << id;
        EXPECT_EQ(table.find(id)->device.id, id);
    }
}

TEST(ShippedSheets, NameCpusThatThereAreForModules) {
    int modules = 0;
    for (const DataSheet& sheet : known_devices().sheets()) {
        if (sheet.host_cpu.empty()) continue;
        ++modules;
        const DataSheet* const cpu = known_devices().find(sheet.host_cpu);
        ASSERT_NE(cpu, nullptr) << sheet.device.id;
        EXPECT_EQ(cpu->device.id, sheet.host_cpu);
        EXPECT_EQ(cpu->device.kind, Device::Kind::cpu) << sheet.device.id;
    }
    EXPECT_GE(modules, 3);
}

}  // namespace
}  // namespace joulecast
