#include "joulecast/device/data_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

/// Figures made up.
const std::string small = R"({"schema": "joulecast.device/1", "id": "abacus-9", "kind": "gpu", "units": 12,
    "boost_clock_mhz": 1500, "peak_flop_per_s_fp32": 2e13,
    "sources": [{"text": "table 1", "figures": ["units"]}, {"text": "the rest"}]})";

std::string with(const std::string& from, const std::string& to) {
    std::string text = small;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string message(const std::string& json) {
    try {
        parse_data_sheet(json, "my.json");
    } catch (const FormatError& error) {
        return error.what();
    }
    return "(accepted)";
}

TEST(DataSheet, GivesTheFiguresAndWhereEachIsFrom) {
    const DataSheet sheet = parse_data_sheet(small, "my.json");
    EXPECT_EQ(sheet.device.id, "abacus-9");
    EXPECT_EQ(sheet.device.display_name, "abacus-9");
    EXPECT_EQ(sheet.device.kind, Device::Kind::gpu);
    EXPECT_EQ(sheet.device.units, 12);
    EXPECT_EQ(sheet.device.peak_flop_per_s_fp32, 2e13);
    EXPECT_TRUE(std::isnan(sheet.device.tdp_w));
    EXPECT_EQ(sheet.sources.at("units"), "table 1");
    EXPECT_EQ(sheet.sources.at("boost_clock_mhz"), "the rest");
    EXPECT_EQ(sheet.sources.count("tdp_w"), 0U);
    EXPECT_EQ(sheet.device.source, "the rest");
}

TEST(DataSheet, NamesTheCpuInTheModuleOfAGpu) {
    EXPECT_EQ(parse_data_sheet(small, "my.json").host_cpu, "");
    const std::string cpu = R"(, "host_cpu": "grace")";
    EXPECT_EQ(parse_data_sheet(with(R"("kind": "gpu")", R"("kind": "gpu")" + cpu), "my.json").host_cpu, "grace");
    EXPECT_THAT(message(with(R"("kind": "gpu")", R"("kind": "cpu")" + cpu)), HasSubstr("\"host_cpu\" is not"));
    EXPECT_THAT(message(with(R"("kind": "gpu")", R"("kind": "gpu", "host_cpu": "../grace")")),
                HasSubstr("\"host_cpu\" is not"));
}

TEST(DataSheet, NamesTheFileAndTheKeyOfEveryFault) {
    EXPECT_THAT(message("{"), HasSubstr("my.json: it is not JSON"));
    EXPECT_THAT(message("[]"), HasSubstr("it is not a JSON object"));
    EXPECT_THAT(message(with("device/1", "device/2")), HasSubstr("\"schema\""));
    EXPECT_THAT(message(with("abacus-9", "Abacus 9")), HasSubstr("\"id\""));
    EXPECT_THAT(message(with("abacus-9", "../abacus")), HasSubstr("\"id\""));
    EXPECT_THAT(message(with("\"gpu\"", "\"npu\"")), HasSubstr("\"kind\""));
    EXPECT_THAT(message(with("\"units\": 12", "\"units\": -3")), HasSubstr("\"units\""));
    EXPECT_THAT(message(with("\"units\": 12", "\"units\": 1.5")), HasSubstr("\"units\""));
    EXPECT_THAT(message(with("\"units\": 12", "\"unit\": 12")), HasSubstr("\"unit\" is not a key of a data sheet"));
    EXPECT_THAT(message(with("2e13", "\"fast\"")), HasSubstr("\"peak_flop_per_s_fp32\" is not a number"));
    EXPECT_THAT(message(with("2e13", "20")), HasSubstr("\"peak_flop_per_s_fp32\" must lie between"));
    EXPECT_THAT(message(with("1500", "1.5e9")), HasSubstr("\"boost_clock_mhz\" must lie between"));
    EXPECT_THAT(message(with("1500", "1500, \"boost_clock_mhz\": 3000")),
                HasSubstr("the key \"boost_clock_mhz\" is twice"));
    EXPECT_THAT(message(with("\"kind\": \"gpu\"", "\"kind\": \"gpu\", \"name\": \"a\\u001b[2Jb\"")),
                HasSubstr("\"name\" holds control characters"));
}

TEST(DataSheet, HasASourceForEveryFigure) {
    EXPECT_THAT(message(with(R"(, {"text": "the rest"})", "")), HasSubstr("\"boost_clock_mhz\" has no source"));
    EXPECT_THAT(message(with("[\"units\"]", "[\"tdp_w\"]")),
                HasSubstr("\"tdp_w\", which is not a figure of this sheet"));
    EXPECT_THAT(message(with("[\"units\"]", "[\"units\", \"units\"]")), HasSubstr("\"units\" has two sources"));
    EXPECT_THAT(message(with("\"sources\"", "\"aliases\"")), HasSubstr("\"aliases\""));
}

TEST(DataSheet, RefusesWhatIsNestedWithoutEnd) {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    EXPECT_THAT(message(with("12", deep)), HasSubstr("it nests deeper than 4 levels"));
}

TEST(DataSheet, RefusesAFileThatIsTooLargeOrNone) {
    const auto file =
        std::filesystem::temp_directory_path() / ("joulecast_sheet_" + std::to_string(::getpid()) + ".json");
    std::ofstream(file) << small << std::string(largest_data_sheet_bytes, ' ');
    EXPECT_THROW(read_data_sheet(file), FormatError);
    std::ofstream(file) << small;
    EXPECT_EQ(read_data_sheet(file).file, file.string());
    std::filesystem::remove(file);
    EXPECT_THROW(read_data_sheet(file), Error);
    EXPECT_THROW(read_data_sheet(std::filesystem::temp_directory_path()), Error);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_THROW(read_data_sheet(file), Error);  // and does not wait for a writer
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace joulecast
