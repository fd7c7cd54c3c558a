#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace joulecast::testing;

TEST(Export, WritesToAFileOrStandardOutput) {
    const TemporaryFolder folder;
    const std::string sample = std::string(JOULECAST_SOURCE_DIR) + "/tests/dataset/data/version_1.csv";
    ASSERT_EQ(run_joulecast("import csv " + sample + " --db " + folder.file("a.db")).status, 0);
    const auto printed = run_joulecast("export --db " + folder.file("a.db"));
    EXPECT_EQ(printed.status, 0);
    EXPECT_THAT(printed.out, StartsWith("schema,kind,operation,"));
    EXPECT_EQ(run_joulecast("export --db " + folder.file("a.db") + " -o " + folder.file("a.csv")).status, 0);
    EXPECT_EQ(read_file(folder.file("a.csv")), printed.out);
}

TEST(Export, SaysThatTheDiskIsFull) {
    const TemporaryFolder folder;
    const std::string sample = std::string(JOULECAST_SOURCE_DIR) + "/tests/dataset/data/version_1.csv";
    ASSERT_EQ(run_joulecast("import csv " + sample + " --db " + folder.file("a.db")).status, 0);
    const auto ran = run_joulecast("export --db " + folder.file("a.db") + " >/dev/full");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("No space left on device"));
}

const std::string synthetic =
    std::string(" --device cpu-synthetic --predictor ") + JOULECAST_SOURCE_DIR + "/tests/model/data/version_1.jcp ";

TEST(ExportLut, AddsUpToWhatPredictSays) {
    const std::string network = " resnet18 --set batch=4 --mode inference,training ";
    const auto table = json::parse(run_joulecast("export --lut --format json" + network + synthetic).out);
    EXPECT_EQ(table["schema"], "joulecast.lut/1");
    std::map<std::string, double> seconds;
    for (const json& entry : table["operations"]) seconds[entry["signature"]] = entry["time_s"];
    std::map<std::string, double> factor;
    for (const json& one : table["compositions"]) factor[one["mode"]] = one["device_factor"];
    const auto predicted =
        json::parse(run_joulecast("predict --host cpp --format json" + network + synthetic).out)["predictions"];
    const auto counted = json::parse(run_joulecast("extract --format json --set batch=4 resnet18").out)["models"][0];
    ASSERT_EQ(predicted.size(), 2U);
    for (const json& network_forecast : predicted) {
        double sum = 0;
        for (const json& call : network_forecast["operations"])
            sum += call["count"].get<double>() * seconds.at(call["signature"]);
        // A CPU issues where it computes: a network is its calls times the factor of its mode.
        EXPECT_NEAR(sum * factor.at(network_forecast["mode"]) / network_forecast["time_s"]["value"].get<double>(), 1,
                    1e-9);
    }
    // Counts are those that extract prints, so nobody needs predict to add up.
    double sum = 0;
    for (const json& call : counted["operations"]) sum += call["count"].get<double>() * seconds.at(call["signature"]);
    EXPECT_NEAR(sum * factor.at("inference") / predicted[0]["time_s"]["value"].get<double>(), 1, 1e-9);
}

TEST(ExportLut, HasEveryOperationOnceForEachSettingAndNamesItsNetworks) {
    const auto table = json::parse(run_joulecast("export --lut resnet18 resnet34 --set batch=1,2 --host cpp,python "
                                                 "--format json" +
                                                 synthetic)
                                       .out);
    std::set<std::string> seen;
    bool is_shared = false;
    for (const json& entry : table["operations"]) {
        EXPECT_TRUE(seen.insert(entry["host"].get<std::string>() + entry["signature"].get<std::string>()).second);
        is_shared = is_shared || entry["networks"] == "resnet18@batch=2;resnet34@batch=2";
        EXPECT_LE(entry["time_low_s"], entry["time_s"]);
        EXPECT_TRUE(entry["energy_j"].is_null());
    }
    EXPECT_TRUE(is_shared);
    EXPECT_EQ(table["networks"].size(), 4U);
    EXPECT_EQ(table["predictors"][0]["predictor"], "version_1.jcp");
}

TEST(ExportLut, SaysWhereItsNumbersComeFromBeforeTheHeader) {
    const auto ran = run_joulecast("export --lut alexnet" + synthetic);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, StartsWith("# schema: \"joulecast.lut/1\"\n# program: \"joulecast "));
    EXPECT_THAT(ran.out, HasSubstr("\"licence\":"));
    EXPECT_THAT(
        ran.out,
        HasSubstr("\ndevice,clock_mhz,memory_clock_mhz,precision,engine,host,mode,part,op,family,signature,time_s,"));
    EXPECT_THAT(ran.out, HasSubstr("\ncpu-synthetic,"));
}

TEST(ExportLut, NeedsNetworksAndADevice) {
    EXPECT_EQ(run_joulecast("export --lut --device cpu").status, 2);
    EXPECT_EQ(run_joulecast("export --lut resnet18").status, 2);
    EXPECT_EQ(run_joulecast("export resnet18 --device cpu").status, 2);
    EXPECT_EQ(run_joulecast("export").status, 2);
    EXPECT_EQ(run_joulecast("export --db none.db --mode training").status, 2);
    const auto clocked = run_joulecast("export --lut resnet18 --device a100@900");
    EXPECT_EQ(clocked.status, 2);
    EXPECT_THAT(clocked.err, HasSubstr("clock that the device was measured at"));
}

TEST(Export, NeverMakesADatabase) {
    const TemporaryFolder folder;
    const auto ran = run_joulecast("export --db " + folder.file("none.db"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("there is no database"));
    EXPECT_FALSE(std::filesystem::exists(folder.file("none.db")));
}

}  // namespace
}  // namespace joulecast
