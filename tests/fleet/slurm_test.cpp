#include "joulecast/fleet/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Slurm, ReadsTheLimitOfArrays) {
    EXPECT_EQ(
        parse_max_array_size("Configuration data as of 2026\nMaxArraySize            = 1001\nMaxJobCount = 10000\n"),
        1001);
    EXPECT_EQ(parse_max_array_size("MaxArraySize = lots\n"), std::nullopt);
    EXPECT_EQ(parse_max_array_size("MaxArraySize ="), std::nullopt);
    EXPECT_EQ(parse_max_array_size(""), std::nullopt);
}

TEST(Slurm, ReadsWhatTasksDo) {
    EXPECT_THAT(parse_tasks("12_7 RUNNING\n12_8 PENDING\n\nx\n"),
                ElementsAre(Pair("12_7", "RUNNING"), Pair("12_8", "PENDING")));
}

}  // namespace
}  // namespace joulecast
