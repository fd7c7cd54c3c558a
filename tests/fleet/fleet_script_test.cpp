#include "joulecast/fleet/fleet_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

FleetPlan sample_plan() {
    FleetPlan plan;
    plan.folder = "/shared/fleet";
    plan.work_folder = "/home/me/it's here";
    plan.joulecast = "/opt/joulecast";
    plan.device = "cuda:0";
    plan.what = {"/shared/fleet/plans/a.plan", "--set", "batch=1,8"};
    plan.how = {"--device", "cuda:0", "--worker", "ssh $HOSTNAME 'a b'"};
    plan.shards = 40;
    return plan;
}

TEST(FleetScript, TellsSlurmWhatIsAskedAndNoMore) {
    FleetPlan plan = sample_plan();
    EXPECT_THAT(sbatch_script(plan), StartsWith("#!/bin/bash\n"));
    EXPECT_THAT(sbatch_script(plan), HasSubstr("#SBATCH --array=1-40\n"));
    EXPECT_THAT(sbatch_script(plan), Not(HasSubstr("#SBATCH --partition")));
    plan.slurm = {.partition = "a100",
                  .time = "2:00:00",
                  .gres = "gpu:1",
                  .exclusive = true,
                  .at_once = 8,
                  .grace_s = 60,
                  .directives = {"--account=ai"}};
    for (const char* line :
         {"--array=1-40%8\n", "--partition=a100\n", "--time=2:00:00\n", "--gres=gpu:1\n", "--exclusive\n",
          "--signal=B:TERM@60\n", "--account=ai\n", "--requeue\n", "--output=/shared/fleet/logs/%a.log\n"})
        EXPECT_THAT(sbatch_script(plan), HasSubstr(std::string("#SBATCH ") + line));
}

TEST(FleetScript, GivesTheShellEveryArgumentAsOneWord) {
    const testing::TemporaryFolder folder;
    const std::string script = sbatch_script(sample_plan());
    testing::write_file(
        folder.path() / "variables.sh",
        script.substr(0, script.find(task_script)) + "printf '%s|' \"$work_folder\" \"${what[@]}\" \"${how[@]}\"\n");
    EXPECT_EQ(
        testing::run_shell("bash " + folder.file("variables.sh")).out,
        "/home/me/it's here|/shared/fleet/plans/a.plan|--set|batch=1,8|--device|cuda:0|--worker|ssh $HOSTNAME 'a b'|");
    testing::write_file(folder.path() / "all.sh", script);
    const auto parsed = testing::run_shell("bash -n " + folder.file("all.sh"));
    EXPECT_EQ(parsed.status, 0) << parsed.err;
}

// A line feed in a partition's name would be a line of the script.
TEST(FleetScript, RefusesWhatSbatchWouldReadOtherwise) {
    const auto refused = [](auto change) {
        FleetPlan plan = sample_plan();
        change(plan);
        EXPECT_THROW(sbatch_script(plan), UsageError);
    };
    refused([](FleetPlan& plan) { plan.folder = "/shared/my fleet"; });
    refused([](FleetPlan& plan) { plan.folder = "/shared/%j"; });
    refused([](FleetPlan& plan) { plan.slurm.partition = "a\nrm -r /"; });
    refused([](FleetPlan& plan) { plan.slurm.time = "1 #"; });
    refused([](FleetPlan& plan) { plan.slurm.gres = "gpu:\"1"; });
    refused([](FleetPlan& plan) { plan.slurm.directives = {"account=ai"}; });
    refused([](FleetPlan& plan) { plan.slurm.directives = {"--comment=a\nb"}; });
}

TEST(FleetScript, KeepsToTheClustersLimitOfArrays) {
    EXPECT_NO_THROW(check_array(1000, 1001));
    EXPECT_THROW(check_array(1001, 1001), UsageError);
    EXPECT_THROW(check_array(0, 1001), UsageError);
}

}  // namespace
}  // namespace joulecast
