#include "joulecast/fleet/fleet_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fleet/sample_fleet.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FleetMergeTest : public testing::SampleFleet {
  protected:
    FleetMerge merge(const std::vector<FleetFolder>& fleets) {
        std::filesystem::remove(database());
        Dataset into(database());
        return merge_fleets(fleets, into);
    }
    std::filesystem::path database() const { return folder.path() / "all.db"; }
    /// Signature and card of each row.
    std::vector<std::string> rows() const {
        std::vector<std::string> texts;
        for (const OperationRow& row : Dataset(database(), Dataset::Access::read_only).operations())
            texts.push_back(std::to_string(tensors(row.measurement.operation)[0]->sizes[0]) + " " +
                            card_of(row.provenance));
        return texts;
    }
};

TEST_F(FleetMergeTest, CountsAnArrayThatWasSubmittedTwiceOnce) {
    const FleetFolder fleet = make_fleet_folder(plan());
    FleetPlan again = plan();
    again.folder = folder.path() / "again";
    const FleetFolder second = make_fleet_folder(again);
    store(fleet, "shard-00001", {measured(1), measured(2)}, "n1", "s1");
    store(fleet, "shard-00002", {measured(3)}, "n2", "s2");
    store(second, "shard-00001", {measured(1, 1.1), measured(2, 1.1), measured(4)}, "n3", "s3");
    const FleetMerge merged = merge({fleet, second});
    EXPECT_EQ(merged.left_out, 2);
    EXPECT_EQ(merged.databases, 3);
    EXPECT_THAT(rows(), ElementsAre("1 n1", "2 n1", "3 n2", "4 n3"));
}

TEST_F(FleetMergeTest, TakesARowThatHasATimeRatherThanOneThatFailedBefore) {
    const FleetFolder fleet = make_fleet_folder(plan());
    Measurement crashed = measured(1);
    crashed.outcome = Outcome::crashed;
    crashed.time = {};
    crashed.hot.reset();
    store(fleet, "shard-00001", {crashed}, "n1", "s1");
    store(fleet, "shard-00001", {measured(1)}, "n2", "s2");
    EXPECT_EQ(merge({fleet}).left_out, 1);
    EXPECT_THAT(rows(), ElementsAre("1 n2"));
}

TEST_F(FleetMergeTest, KeepsWhatEveryCardMeasuredForTheComparison) {
    const FleetFolder fleet = make_fleet_folder(plan());
    store(fleet, "card-n1", {measured(1)}, "n1", "s1");
    store(fleet, "card-n2", {measured(1)}, "n2", "s2");
    store(fleet, "shard-00001", {measured(1)}, "n2", "s3");
    EXPECT_EQ(merge({fleet}).left_out, 0);
    EXPECT_THAT(rows(), ElementsAre("1 n1", "1 n2", "1 n2"));
}

// A prolog may have set another clock for each of two arrays that ask for none.
TEST_F(FleetMergeTest, TellsClocksApartThatNobodyAskedFor) {
    const FleetFolder fleet = make_fleet_folder(plan());
    Measurement slow = measured(1);
    slow.real.sm_clock_mhz = 900;
    store(fleet, "shard-00001", {measured(1)}, "n1", "s1");
    store(fleet, "shard-00001", {slow}, "n1", "s2");
    EXPECT_EQ(merge({fleet}).left_out, 0);
    slow.real.sm_clock_mhz = 910;  // within what boost wanders
    store(fleet, "shard-00002", {slow}, "n1", "s3");
    EXPECT_EQ(merge({fleet}).left_out, 1);
}

TEST_F(FleetMergeTest, TellsHowFarTwoCardsOfOneNameLieApart) {
    const FleetFolder fleet = make_fleet_folder(plan());
    std::vector<Measurement> slow, usual;
    for (std::int64_t batch = 1; batch <= 9; ++batch) {
        usual.push_back(measured(batch));
        slow.push_back(measured(batch, 1.05));
    }
    store(fleet, "card-n1", usual, "n1", "s1");
    store(fleet, "card-n2", slow, "n2", "s2");
    const FleetMerge merged = merge({fleet});
    ASSERT_EQ(merged.spread.at("cpu-test").time.size(), 1u);
    const CardComparison& found = merged.spread.at("cpu-test").time[0];
    EXPECT_NEAR(found.widest, 1.05, 1e-9);
    EXPECT_EQ(found.cards.at(0).operations, 9u);
}

TEST_F(FleetMergeTest, LeavesOutAndNamesWhatCannotBeRead) {
    const FleetFolder fleet = make_fleet_folder(plan());
    store(fleet, "shard-00001", {measured(1), measured(2)}, "n1", "s1");
    store(fleet, "shard-00002", {measured(3)}, "n1", "s1");
    const auto file = fleet.shard_file("shard-00001", ".db");
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    const FleetMerge merged = merge({fleet});
    EXPECT_THAT(merged.unreadable, ElementsAre(HasSubstr("shard-00001.db")));
    EXPECT_THAT(rows(), ElementsAre("3 n1"));
}

}  // namespace
}  // namespace joulecast
