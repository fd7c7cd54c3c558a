#include "cli/laboratory.h"

#include <gtest/gtest.h>

#include <vector>

namespace joulecast::cli {
namespace {

bool is_for(std::vector<std::string_view> words) {
    return is_for_laboratory(words);
}

TEST(IsForLaboratory, TakesStudiesPublishedTablesAndComparisons) {
    EXPECT_TRUE(is_for({"study", "learners", "--db", "a.db"}));
    EXPECT_TRUE(is_for({"help", "study"}));
    EXPECT_TRUE(is_for({"import", "neusight", "ops.csv", "--db", "a.db"}));
    EXPECT_TRUE(is_for({"import", "--db", "a.db", "vidur", "ops.csv"}));
    EXPECT_TRUE(is_for({"import", "--db=a.db", "vidur", "ops.csv"}));
    EXPECT_TRUE(is_for({"import", "llmservingsim", "ops.csv", "--db", "a.db"}));
    EXPECT_TRUE(is_for({"import", "mlperf-power", "runs.csv", "--db", "a.db"}));
    EXPECT_TRUE(is_for({"validate", "--db", "a.db", "--baselines"}));
    EXPECT_TRUE(is_for({"validate", "--learner=knn", "--db", "a.db"}));
    EXPECT_TRUE(is_for({"validate", "--db", "a.db", "--outliers", "drop"}));
}

TEST(IsForLaboratory, LeavesEverythingElseToJoulecast) {
    EXPECT_FALSE(is_for({}));
    EXPECT_FALSE(is_for({"--help"}));
    EXPECT_FALSE(is_for({"help", "import"}));
    EXPECT_FALSE(is_for({"help"}));
    EXPECT_FALSE(is_for({"import"}));
    EXPECT_FALSE(is_for({"import", "csv", "neusight", "--db", "a.db"})) << "a file of that name";
    EXPECT_FALSE(is_for({"import", "smi-log", "p.csv", "--model", "vidur"}));
    EXPECT_FALSE(is_for({"import", "--model", "vidur", "smi-log", "p.csv"}));
    EXPECT_FALSE(is_for({"validate", "--db", "a.db", "--split", "network"}));
    EXPECT_FALSE(is_for({"train", "--db", "a.db", "--learner", "knn", "--outliers", "drop"}));
    EXPECT_FALSE(is_for({"report", "--outliers", "--db", "a.db"}));
}

}  // namespace
}  // namespace joulecast::cli
