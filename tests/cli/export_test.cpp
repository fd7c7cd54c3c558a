#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

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

TEST(Export, NeverMakesADatabase) {
    const TemporaryFolder folder;
    const auto ran = run_joulecast("export --db " + folder.file("none.db"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("there is no database"));
    EXPECT_FALSE(std::filesystem::exists(folder.file("none.db")));
}

}  // namespace
}  // namespace joulecast
