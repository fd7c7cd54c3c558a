#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace joulecast::testing;

const std::string sample = std::string(JOULECAST_SOURCE_DIR) + "/tests/dataset/data/version_1.csv";

TEST(Import, ThenExportGivesTheSameFileBack) {
    const TemporaryFolder folder;
    const std::string db = " --db " + folder.file("a.db");
    const auto first = nlohmann::json::parse(run_joulecast("import csv " + sample + db + " --format json").out);
    EXPECT_EQ(first.at(0).at("added"), 3);
    const auto again = nlohmann::json::parse(run_joulecast("import csv " + sample + db + " --format json").out);
    EXPECT_EQ(again.at(0).at("rows"), 3);
    EXPECT_EQ(again.at(0).at("added"), 0);
    // The sample is of version 1: as it is written now, with the columns that came later, it comes back.
    const std::string written = run_joulecast("export --blocks" + db).out;
    write_file(folder.file("now.csv"), written);
    const std::string copy = " --db " + folder.file("b.db");
    EXPECT_EQ(run_joulecast("import csv " + folder.file("now.csv") + copy).status, 0);
    EXPECT_EQ(run_joulecast("export --blocks" + copy).out, written);
    EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 5);  // header, device, two operations, a network
}

TEST(Import, NamesTheWrongLineAndImportsNothingOfTheFile) {
    const TemporaryFolder folder;
    std::string text = read_file(sample);
    const std::size_t place = text.rfind("0.1,");  // a time of the last row
    ASSERT_NE(place, std::string::npos);
    write_file(folder.file("bad.csv"), text.replace(place, 4, "nan,"));
    const auto ran = run_joulecast("import csv " + folder.file("bad.csv") + " --db " + folder.file("a.db"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("bad.csv:5: "));
    EXPECT_THAT(ran.err, HasSubstr("is no finite number"));
    const auto info = nlohmann::json::parse(run_joulecast("info --format json " + folder.file("a.db")).out);
    EXPECT_EQ(info.at("operations"), 0);
}

TEST(Import, AFolderIsNoFile) {
    const TemporaryFolder folder;
    const auto ran = run_joulecast("import csv " + folder.file("") + " --db " + folder.file("a.db"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("is a folder; name its files"));
}

TEST(Import, ASweepOfClocksIsInTheDatabaseWithItsModelsName) {
    const TemporaryFolder folder;
    write_file(folder.file("mine.csv"),
               "device,workload,sm_mhz,mem_mhz,power_limit_w,time_s,power_w,energy_j\n"
               "a30,resnet50,900,1215,165,0.02,110,2.2\na30,resnet50,1000,1215,165,0.019,118,\n");
    const std::string db = " --db " + folder.file("a.db");
    const auto told =
        nlohmann::json::parse(run_joulecast("import sweep " + folder.file("mine.csv") + db + " --format json").out);
    EXPECT_EQ(told.at(0).at("rows"), 2);
    EXPECT_EQ(told.at(0).at("used"), 2);
    EXPECT_EQ(told.at(0).at("added"), 2);
    const std::string written = run_joulecast("export" + db).out;
    EXPECT_THAT(written, HasSubstr("resnet50"));
    EXPECT_THAT(written, HasSubstr(",sweep"));
}

TEST(Import, SaysHowManyRowsCannotBeRight) {
    const TemporaryFolder folder;
    write_file(folder.file("mine.csv"),
               "device,workload,sm_mhz,mem_mhz,power_limit_w,time_s,power_w,energy_j\n"
               "a30,resnet50,900,1215,165,0.02,110,2.2\na30,resnet50,1000,1215,165,0.019,1180,\n");
    const std::string import = "import sweep " + folder.file("mine.csv") + " --db " + folder.file("a.db");
    EXPECT_THAT(run_joulecast(import).err, HasSubstr("1 added rows have numbers that cannot be right"));
    EXPECT_THAT(run_joulecast("export --db " + folder.file("a.db")).out,
                HasSubstr("power is 1180 W, not from 0 to 330 W"));
    EXPECT_THAT(run_joulecast(import).err, Not(HasSubstr("cannot be right")));  // none was added
}

TEST(Import, ALogOfNvidiaSmiNeedsToBeToldWhatRan) {
    const TemporaryFolder folder;
    write_file(folder.file("power.csv"),
               "timestamp, utilization.gpu [%], power.draw [W]\n2024/02/29 12:34:10.000, 90 %, 100 W\n"
               "2024/02/29 12:34:11.000, 90 %, 120 W\n");
    const std::string command = "import smi-log " + folder.file("power.csv") + " --db " + folder.file("a.db");
    const auto untold = run_joulecast(command);
    EXPECT_EQ(untold.status, 2);
    EXPECT_THAT(untold.err, HasSubstr("needs --device, --model and --calls"));
    EXPECT_EQ(run_joulecast(command + " --device a30 --model resnet50 --calls 0").status, 2);
    EXPECT_EQ(run_joulecast(command + " --device a30 --model resnet50 --calls 4 --mode both").status, 2);
    EXPECT_EQ(run_joulecast(command + " --device a30 --model resnet50 --calls 4 --set batch=1,2").status, 2);
    EXPECT_FALSE(std::filesystem::exists(folder.file("a.db")));
    const auto told = run_joulecast(command + " --device a30 --model resnet50 --set batch=8 --calls 4 --sm-mhz 900");
    EXPECT_EQ(told.status, 0) << told.err;
    const std::string written = run_joulecast("export --db " + folder.file("a.db")).out;
    EXPECT_THAT(written, HasSubstr("resnet50"));
    EXPECT_THAT(written, HasSubstr("batch=8"));
}

TEST(Import, OptionsOfALogAreRefusedForTables) {
    const TemporaryFolder folder;
    const auto ran = run_joulecast("import sweep a.csv --model resnet50 --db " + folder.file("a.db"));
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("--model is for import smi-log"));
}

TEST(Import, RefusesSourcesItDoesNotKnowAndFilesThatAreNotThere) {
    const TemporaryFolder folder;
    EXPECT_EQ(run_joulecast("import xml a.xml --db " + folder.file("a.db")).status, 2);
    const auto ran = run_joulecast("import csv none.csv --db " + folder.file("a.db"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("cannot read 'none.csv'"));
}

}  // namespace
}  // namespace joulecast
