#include "joulecast/device/device_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>

#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const DeviceTable& table() {
    static const DeviceTable shipped;
    return shipped;
}
std::string id_of(const char* text) {
    const DataSheet* sheet = table().find(text);
    return sheet ? sheet->device.id : "(none)";
}

DataSheet own(const std::string& id, const std::vector<std::string>& aliases = {}) {
    DataSheet sheet;
    sheet.device.id = sheet.device.display_name = id;
    sheet.aliases = aliases;
    return sheet;
}

TEST(NameKey, LeavesOutWhatVendorsAddToEveryName) {
    EXPECT_EQ(name_key("NVIDIA A100-SXM4-80GB"), "a100+80g+sxm");
    EXPECT_EQ(name_key("a100_80 gb_SXM"), "a100+80g+sxm");
    EXPECT_EQ(name_key("GeForce RTX 2080 Ti"), "rtx2080ti");
    EXPECT_EQ(name_key("AMD Instinct(TM) MI300X"), "mi300x");
    EXPECT_EQ(name_key("NVIDIA"), "");
    EXPECT_EQ(name_key(""), "");
}

TEST(DeviceTable, FindsDevicesByTheNamesThatPublishedTablesUse) {
    EXPECT_EQ(id_of("A100-SXM"), "a100-80g-sxm");  // AIConfigurator's, of 80 GB
    EXPECT_EQ(id_of("H100-SXM"), "h100-sxm");
    EXPECT_EQ(id_of("H100_sxm"), "h100-sxm");
    EXPECT_EQ(id_of("RTX-PRO-6000"), "rtx-pro-6000");
    EXPECT_EQ(id_of("L40S"), "l40s");
    EXPECT_EQ(id_of("B200"), "b200");
    EXPECT_EQ(id_of("GB200"), "gb200");
    EXPECT_EQ(id_of("NVIDIA A30"), "a30");
    EXPECT_EQ(id_of("A100-40G-PCIE"), "a100-40g-pcie");
    EXPECT_EQ(id_of("A100-40G-SXM"), "a100-40g-sxm");
    EXPECT_EQ(id_of("A100-80G-PCIE"), "a100-80g-pcie");
    EXPECT_EQ(id_of("A100-80G-SXM"), "a100-80g-sxm");
    EXPECT_EQ(id_of("MI250"), "mi250");
    EXPECT_EQ(id_of("RTX8000"), "rtx8000");
    EXPECT_EQ(id_of("RTX6000"), "rtx6000");
    EXPECT_EQ(id_of("gtx_titan_x_maxwell"), "titanx-maxwell");
    EXPECT_EQ(id_of("titan_xp"), "titanxp");
    EXPECT_EQ(id_of("titanx_pascal"), "titanx-pascal");
    EXPECT_EQ(id_of("k40c"), "k40c");
    EXPECT_EQ(id_of("rtx2070super"), "rtx2070super");
    EXPECT_EQ(id_of("Arc-B60"), "arc-b60");
}

TEST(DeviceTable, FindsDevicesByTheNamesThatDriversTell) {
    EXPECT_EQ(id_of("NVIDIA H100 80GB HBM3"), "h100-sxm");
    EXPECT_EQ(id_of("NVIDIA H100 PCIe"), "h100-pcie");
    EXPECT_EQ(id_of("NVIDIA A100-SXM4-40GB"), "a100-40g-sxm");
    EXPECT_EQ(id_of("NVIDIA A100 80GB PCIe"), "a100-80g-pcie");
    EXPECT_EQ(id_of("Tesla V100-SXM2-32GB"), "v100-32g-sxm");
    EXPECT_EQ(id_of("Tesla P100-PCIE-16GB"), "p100");
    EXPECT_EQ(id_of("NVIDIA GeForce RTX 3080 Ti"), "rtx3080ti");
    EXPECT_EQ(id_of("Quadro RTX 8000"), "rtx8000");
}

TEST(DeviceTable, ShortNamesMeanWhatTheCommandLinePromises) {
    EXPECT_EQ(id_of("h100"), "h100-sxm");
    EXPECT_EQ(id_of("a100"), "a100-40g-pcie");
    EXPECT_EQ(id_of("v100"), "v100-16g-pcie");
}

TEST(DeviceTable, EveryIdFindsItself) {
    for (const DataSheet& sheet : table().sheets()) {
        ASSERT_NE(table().find(sheet.device.id), nullptr) << sheet.device.id;
        EXPECT_EQ(table().find(sheet.device.id)->device.id, sheet.device.id);
    }
}

TEST(DeviceTable, NamesWhatComesNearOfAnUnknownName) {
    EXPECT_THAT(table().names_like("rtx3085ti"), Contains("rtx3080ti"));
    EXPECT_THAT(table().names_like("v100 s"), Contains("v100-16g-pcie"));
    try {
        table().named("a100-160g");
        ADD_FAILURE() << "found";
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no device is called 'a100-160g'. Near it: a100-40g-pcie"));
        EXPECT_THAT(error.what(), HasSubstr("docs/devices.md"));
    }
    // Nobody types "rtx" for one of them in particular: what begins so is listed.
    EXPECT_THAT(table().names_like("rtx", 100), Contains("rtx2080ti"));
    // Not cut to a name that fits.
    EXPECT_EQ(table().find("a30" + std::string(100'000, ' ')), nullptr);
    EXPECT_EQ(table().find(""), nullptr);
}

TEST(DeviceTable, OnesOwnSheetTakesThePlaceOfTheShippedOne) {
    DeviceTable mine;
    DataSheet sheet = own("a30", {"my a30"});
    sheet.device.tdp_w = 120;
    const auto before = mine.sheets().size();
    mine.add(sheet);
    EXPECT_EQ(mine.sheets().size(), before);
    EXPECT_EQ(mine.named("NVIDIA A30").device.tdp_w, 120);
    EXPECT_EQ(mine.named("My_A30").device.tdp_w, 120);
}

TEST(DeviceTable, FindsAnIdOfWordsThatSayNothing) {
    DeviceTable mine;
    mine.add(own("gpu"));
    EXPECT_EQ(mine.named("gpu").device.id, "gpu");
    EXPECT_EQ(mine.find("nvidia"), nullptr);
}

TEST(DeviceTable, RefusesANameThatIsAnothersDevice) {
    DeviceTable mine;
    EXPECT_THROW(mine.add(own("my-card", {"NVIDIA H100"})), Error);
    EXPECT_EQ(mine.named("h100").device.id, "h100-sxm");
    EXPECT_EQ(mine.find("my-card"), nullptr);
}

class DeviceFolder : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / ("joulecast_devices_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

    std::filesystem::path folder_;
};

TEST_F(DeviceFolder, AddsItsJsonFilesAndNoOthers) {
    write("x.json", R"({"schema": "joulecast.device/1", "id": "abacus", "kind": "gpu", "sources": [{"text": "me"}]})");
    write("notes.txt", "not a sheet");
    DeviceTable mine;
    const auto before = mine.sheets().size();
    mine.add_folder(folder_);
    EXPECT_EQ(mine.sheets().size(), before + 1);
    EXPECT_EQ(mine.named("ABACUS").file, (folder_ / "x.json").string());
    mine.add_folder(folder_ / "nowhere");
    EXPECT_EQ(mine.sheets().size(), before + 1);
}

TEST_F(DeviceFolder, NamesTheFileThatIsNoDataSheet) {
    write("broken.json", "{}");
    DeviceTable mine;
    try {
        mine.add_folder(folder_);
        ADD_FAILURE() << "took it";
    } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("broken.json"));
    }
}

// A worker called its card a30 and knew no figure of it: a whole sweep later `train` said that it had no peak.
TEST(WithKnownFigures, FillsWhatAWorkerLeavesOutFromTheDataSheet) {
    Device told;
    told.id = "a30";
    told.kind = Device::Kind::gpu;
    told.source = "the worker";
    told.tdp_w = 150;
    const Device known = find_device("a30");
    const Device filled = with_known_figures(told);
    EXPECT_EQ(filled.tdp_w, 150);  // the worker's own
    EXPECT_EQ(filled.peak_flop_per_s_fp32, known.peak_flop_per_s_fp32);
    EXPECT_EQ(filled.units, known.units);
    EXPECT_EQ(filled.vendor, "nvidia");
    EXPECT_EQ(filled.source, "the worker; what that leaves open: the data sheet of a30");
    EXPECT_EQ(with_known_figures(filled).source, filled.source);
    told.id = "nobody-knows";
    EXPECT_TRUE(std::isnan(with_known_figures(told).peak_flop_per_s_fp32));
    told.id = "a30";
    told.kind = Device::Kind::cpu;  // another thing that happens to be called so
    EXPECT_TRUE(std::isnan(with_known_figures(told).peak_flop_per_s_fp32));
}

TEST(FindDevice, KnowsThisMachineAsCpu) {
    EXPECT_EQ(find_device("cpu").kind, Device::Kind::cpu);
    EXPECT_EQ(find_device("A30").id, "a30");
    EXPECT_THROW(find_device("/etc/passwd"), UsageError);
}

}  // namespace
}  // namespace joulecast
