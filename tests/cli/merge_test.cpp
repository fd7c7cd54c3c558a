#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;

TEST(Merge, AddsWhatIsMissingOnce) {
    const TemporaryFolder folder;
    const std::string sample = std::string(JOULECAST_SOURCE_DIR) + "/tests/dataset/data/version_1.csv";
    const std::string a = folder.file("a.db"), c = folder.file("c.db");
    ASSERT_EQ(run_joulecast("import csv " + sample + " --db " + a).status, 0);
    std::filesystem::copy_file(a, folder.file("b.db"));
    const auto ran = run_joulecast("merge " + a + " " + folder.file("b.db") + " --into " + c + " --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto merged = nlohmann::json::parse(ran.out);
    EXPECT_EQ(merged.at(0).at("added"), 3);
    EXPECT_EQ(merged.at(1).at("added"), 0);
    EXPECT_EQ(run_joulecast("export --blocks --db " + c).out, run_joulecast("export --blocks --db " + a).out);
}

TEST(Merge, ChangesNothingWhenASourceIsMissing) {
    const TemporaryFolder folder;
    const std::string a = folder.file("a.db");
    const auto ran = run_joulecast("merge " + a + " --into " + folder.file("c.db"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_FALSE(std::filesystem::exists(folder.file("c.db")));
}

TEST(Merge, RefusesADatabaseIntoItself) {
    const TemporaryFolder folder;
    const std::string sample = std::string(JOULECAST_SOURCE_DIR) + "/tests/dataset/data/version_1.csv";
    const std::string a = folder.file("a.db");
    ASSERT_EQ(run_joulecast("import csv " + sample + " --db " + a).status, 0);
    const auto ran = run_joulecast("merge " + a + " --into " + a);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("cannot be merged into itself"));
}

}  // namespace
}  // namespace joulecast
