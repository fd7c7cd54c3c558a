#include "joulecast/fleet/fleet_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fleet/sample_fleet.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Tasks = std::optional<std::map<std::string, std::string>>;

/// Slurm's answer, with one task in it.
Tasks knows(const std::string& task, const std::string& state) {
    std::map<std::string, std::string> tasks;
    tasks[task] = state;
    return tasks;
}

class FleetStatusTest : public testing::SampleFleet {
  protected:
    /// How shard 1 stands.
    ShardStatus first(const FleetFolder& fleet, const Tasks& tasks = Tasks(std::in_place)) {
        return fleet_status(fleet, tasks).shards.at(0);
    }
};

TEST_F(FleetStatusTest, CountsWhatIsMeasuredMissingAndFailed) {
    const FleetFolder fleet = make_fleet_folder(plan());
    write_journal(fleet, "shard-00001", {"started n1", "stopped n1"});
    write_counts(fleet, "shard-00001", 5);
    Measurement large = measured(3);
    large.outcome = Outcome::out_of_memory;
    large.message = "4 GB too much";
    large.time = {};
    large.hot.reset();
    store(fleet, "shard-00001", {measured(1), measured(2), large}, "n1", "s1");
    const FleetStatus status = fleet_status(fleet, Tasks(std::in_place));
    ASSERT_EQ(status.shards.size(), 3u);
    const ShardStatus& shard = status.shards[0];
    EXPECT_EQ(shard.state, ShardState::stopped);
    EXPECT_EQ(shard.node, "n1");
    EXPECT_EQ(shard.measured, 2);
    EXPECT_EQ(shard.failed, 1);
    EXPECT_EQ(shard.missing(), 2);
    ASSERT_EQ(status.failures.size(), 1u);
    EXPECT_EQ(status.failures[0].outcome, "out_of_memory");
    EXPECT_EQ(status.failures[0].message, "4 GB too much");
    EXPECT_EQ(status.failures[0].card, "n1");
    EXPECT_EQ(status.shards[1].state, ShardState::missing);
    EXPECT_EQ(status.shards[1].missing(), std::nullopt);
}

TEST_F(FleetStatusTest, TellsATaskThatRunsFromOneThatWasLost) {
    const FleetFolder fleet = make_fleet_folder(plan());
    write_journal(fleet, "shard-00001", {"started n1"});
    EXPECT_EQ(first(fleet, knows("12_1", "RUNNING")).state, ShardState::running);
    EXPECT_EQ(first(fleet, knows("12_1", "PENDING")).state, ShardState::waiting);
    EXPECT_EQ(first(fleet, knows("12_2", "RUNNING")).state, ShardState::lost);
    EXPECT_EQ(first(fleet, std::nullopt).state, ShardState::unknown);
    for (const ShardState state : {ShardState::lost, ShardState::unknown, ShardState::missing, ShardState::left})
        EXPECT_TRUE(lacks_something(state)) << name(state);
    for (const ShardState state : {ShardState::running, ShardState::waiting, ShardState::finished})
        EXPECT_FALSE(lacks_something(state)) << name(state);
}

TEST_F(FleetStatusTest, IsFinishedOnlyWithAllOfItsRows) {
    const FleetFolder fleet = make_fleet_folder(plan());
    write_journal(fleet, "shard-00001", {"started n1", "finished n1"});
    write_counts(fleet, "shard-00001", 2);
    store(fleet, "shard-00001", {measured(1)}, "n1", "s1");
    EXPECT_EQ(first(fleet).state, ShardState::left);
    store(fleet, "shard-00001", {measured(2)}, "n1", "s1");
    EXPECT_EQ(first(fleet).state, ShardState::finished);
    // With a budget the rest is known to be left.
    write_counts(fleet, "shard-00001", 9, 7);
    EXPECT_EQ(first(fleet).state, ShardState::left);
    EXPECT_THAT(first(fleet).message, HasSubstr("budget"));
}

TEST_F(FleetStatusTest, SaysWhyATaskFailed) {
    const FleetFolder fleet = make_fleet_folder(plan());
    write_journal(fleet, "shard-00001", {"started n1", "failed n1 no space left"});
    EXPECT_EQ(first(fleet).state, ShardState::failed);
    EXPECT_EQ(first(fleet).message, "no space left");
    write_journal(fleet, "shard-00001", {"refused n2 a MIG slice"});
    EXPECT_EQ(first(fleet).state, ShardState::refused);
    EXPECT_EQ(first(fleet).node, "n2");
    write_journal(fleet, "shard-00001", {"marked n2 no energy: a MIG slice", "started n2", "finished n2"});
    EXPECT_EQ(first(fleet).state, ShardState::finished);
    EXPECT_THAT(first(fleet).message, HasSubstr("no energy"));
}

TEST_F(FleetStatusTest, NamesACopyThatWasCutOff) {
    const FleetFolder fleet = make_fleet_folder(plan());
    write_journal(fleet, "shard-00001", {"started n1", "finished n1"});
    store(fleet, "shard-00001", {measured(1), measured(2)}, "n1", "s1");
    const auto file = fleet.shard_file("shard-00001", ".db");
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    testing::write_file(file.string() + ".part-12_1.0.77", "half");
    const FleetStatus status = fleet_status(fleet, Tasks(std::in_place));
    EXPECT_EQ(status.shards[0].state, ShardState::unreadable);
    EXPECT_THAT(status.shards[0].message, HasSubstr("shard-00001.db cannot be read"));
    EXPECT_THAT(status.remarks, ElementsAre(HasSubstr("1 copies are being written or were cut off")));
}

TEST_F(FleetStatusTest, SaysWhatIsWrongWithTheWhole) {
    const FleetFolder fleet = make_fleet_folder(plan());
    EXPECT_THAT(fleet_status(fleet, {}).remarks, IsEmpty());
    store(fleet, "shard-00001", {measured(1)}, "n1", "s1");
    {
        Dataset other(fleet.shard_file("shard-00002", ".db"));
        other.insert(testing::sample_device("another"));
        other.insert(testing::sample_measurement(testing::relu(1), "another"), measured_by("n2", "s2"));
    }
    testing::write_file(fleet.shard_file("shard-00003", ".journal"),
                        "2026-01-02T03:09:00Z started job=1_3 node=n1 restart=0 : \n"
                        "2026-01-02T03:04:00Z started job=1_3 node=n2 restart=1 : \nhalf a li");
    EXPECT_THAT(fleet_status(fleet, {}).remarks,
                ElementsAre(HasSubstr("ran on another, cpu-test"), HasSubstr("clocks of n1, n2 lie 300 s apart"),
                            HasSubstr("1 lines of journals")));
}

TEST(ArrayOf, IsWhatSbatchTakes) {
    EXPECT_EQ(array_of({}), "");
    EXPECT_EQ(array_of({3}), "3");
    EXPECT_EQ(array_of({3, 7, 8, 12, 13, 14, 15}), "3,7,8,12-15");
}

}  // namespace
}  // namespace joulecast
