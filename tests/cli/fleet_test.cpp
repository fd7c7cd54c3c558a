#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace joulecast::testing;

/// Where no Slurm answers, whatever is on this machine.
Ran fleet(const std::string& arguments) {
    const TemporaryFolder tools;
    for (const char* tool : {"scontrol", "squeue"}) {
        write_file(tools.path() / tool, "#!/bin/sh\nexit 1\n");
        std::filesystem::permissions(tools.path() / tool, std::filesystem::perms::owner_all);
    }
    return run_shell("export PATH=" + tools.path().string() + ":$PATH; \"$JOULECAST\" fleet " + arguments);
}

TEST(Fleet, IsPlannedForSlurmWithinItsLimits) {
    const TemporaryFolder folder;
    const std::string plan = "plan alexnet --device pretend-a --folder " + folder.file("f");
    EXPECT_EQ(fleet(plan + " --array 3").status, 2);
    EXPECT_EQ(fleet(plan + " --slurm").status, 2);
    const Ran large = fleet(plan + " --slurm --array 1001");
    EXPECT_EQ(large.status, 2);
    EXPECT_THAT(large.err, HasSubstr("--array 1000 is the most"));
    EXPECT_EQ(fleet(plan + " --slurm --array 3 --clocks fast").status, 2);
    EXPECT_EQ(fleet(plan + " --slurm --array 3 --require-energy --on-shared mark").status, 2);
    EXPECT_EQ(fleet("plan missing.plan --slurm --array 3 --folder " + folder.file("f")).status, 1);
    EXPECT_EQ(fleet("plan alexnet --slurm --array 3 --folder '" + folder.file("a b") + "'").status, 2);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    EXPECT_EQ(fleet(plan + " --slurm --array 2000 --max-array-size 4001").status, 0);
    EXPECT_THAT(read_file(folder.path() / "f/fleet.sbatch"), HasSubstr("#SBATCH --exclusive\n"));
}

TEST(Fleet, HandsOnWhatProfileTakesAndKeepsThePlan) {
    const TemporaryFolder folder;
    const std::string plan = folder.file("my.plan");
    write_file(plan, "models = alexnet\nset = batch=2\n");
    const std::string asked = "plan " + plan +
                              " --slurm --array 3 --device cuda:0 --mode training --budget 5m --no-hot --folder " +
                              folder.file("f") + " --format json";
    const Ran ran = fleet(asked);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(nlohmann::json::parse(ran.out).at("tasks"), 3);
    EXPECT_GT(nlohmann::json::parse(ran.out).at("wanted"), 10);
    const auto kept = nlohmann::json::parse(read_file(folder.path() / "f/fleet.json"));
    EXPECT_THAT(kept.at("what"), ElementsAre(folder.file("f/plans/my.plan"), "--mode", "training", "--budget", "5m"));
    EXPECT_THAT(kept.at("how"), ElementsAre("--device", "cuda:0", "--no-hot"));
    EXPECT_THAT(read_file(folder.path() / "f/fleet.sbatch"), HasSubstr("#SBATCH --gres=gpu:1\n"));
    EXPECT_EQ(fleet(asked).status, 0);
    write_file(plan, "models = resnet18\n");
    const Ran other = fleet(asked);
    EXPECT_EQ(other.status, 1);
    EXPECT_THAT(other.err, HasSubstr("holds another plan named my.plan"));
}

TEST(Fleet, SaysWhatIsMissingAndMergesWhatIsThere) {
    const TemporaryFolder folder;
    const std::string of_fleet = folder.file("f"), worker = std::string(" --device pretend-a --worker '") + PRETEND "'";
    ASSERT_EQ(fleet("plan alexnet --slurm --array 3 --folder " + of_fleet + worker).status, 0);
    const Ran before = fleet("status " + of_fleet);
    EXPECT_EQ(before.status, 3);
    EXPECT_THAT(before.out, HasSubstr("0 of 3 shards are finished, 3 missing"));
    EXPECT_THAT(before.out, HasSubstr("sbatch --array=1-3 " + of_fleet + "/fleet.sbatch\n"));
    EXPECT_EQ(fleet("merge " + of_fleet + " -o " + folder.file("all.db")).status, 1);
    EXPECT_FALSE(std::filesystem::exists(folder.file("all.db")));
    for (const char* card : {"n1", "n2"})
        ASSERT_EQ(run_joulecast("profile --probe --card " + std::string(card) + " --db " + of_fleet + "/shards/card-" +
                                card + ".db" + worker)
                      .status,
                  0);
    const Ran merged = fleet("merge " + of_fleet + " -o " + folder.file("all.db"));
    EXPECT_EQ(merged.status, 3) << merged.err;
    EXPECT_THAT(merged.err, HasSubstr("3 shards are not finished"));
    EXPECT_THAT(merged.out, HasSubstr("out of 2 databases"));
    EXPECT_THAT(merged.out, HasSubstr("pretend-a: 2 cards lie within "));
    EXPECT_EQ(fleet("merge " + of_fleet + " -o " + folder.file("all.db")).status, 1);
    EXPECT_THAT(run_joulecast("export --db " + folder.file("all.db")).out, HasSubstr("; card n2"));
    EXPECT_EQ(fleet("status " + folder.path().string()).status, 1);
}

}  // namespace
}  // namespace joulecast
