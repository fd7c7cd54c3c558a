#include "joulecast/fleet/fleet_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/dataset/sqlite.h"
#include "joulecast/error.h"
#include "tests/fleet/sample_fleet.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FleetFolderTest : public testing::SampleFleet {};

TEST_F(FleetFolderTest, IsReadAsItWasMade) {
    make_fleet_folder(plan(7));
    const FleetFolder read = open_fleet_folder(plan().folder);
    EXPECT_EQ(read.shards, 7);
    EXPECT_EQ(read.what, plan().what);
    EXPECT_EQ(testing::read_file(read.script()), sbatch_script(plan(7)));
}

TEST_F(FleetFolderTest, TakesANewScriptButNoOtherFleet) {
    make_fleet_folder(plan(7));
    FleetPlan elsewhere = plan(7);
    elsewhere.slurm.partition = "a100";
    EXPECT_NO_THROW(make_fleet_folder(elsewhere));
    EXPECT_THAT(testing::read_file(open_fleet_folder(plan().folder).script()), HasSubstr("--partition=a100"));
    EXPECT_THROW(make_fleet_folder(plan(8)), Error);
    FleetPlan other = plan(7);
    other.what = {"resnet50"};
    EXPECT_THROW(make_fleet_folder(other), Error);
}

TEST_F(FleetFolderTest, RefusesWhatIsNoFleet) {
    EXPECT_THROW(open_fleet_folder(folder.path()), Error);
    make_fleet_folder(plan());
    for (const char* text : {"", "{", "[]", R"({"schema":"joulecast.fleet/2","shards":3,"what":[],"how":[]})",
                             R"({"schema":"joulecast.fleet/1","shards":0,"what":[],"how":[]})",
                             R"({"schema":"joulecast.fleet/1","shards":1e99,"what":[],"how":[]})",
                             R"({"schema":"joulecast.fleet/1","shards":3,"what":[1],"how":[]})", R"({"schema":7})"}) {
        testing::write_file(plan().folder / "fleet.json", text);
        EXPECT_THROW(open_fleet_folder(plan().folder), FormatError) << text;
    }
}

TEST_F(FleetFolderTest, KnowsItsShardsByName) {
    EXPECT_EQ(shard_name(7), "shard-00007");
    EXPECT_EQ(shard_name(123456), "shard-123456");
    EXPECT_EQ(shard_number("shard-00007"), 7);
    for (const char* name : {"shard-7", "shard-00000", "shard--0007", "card-n1", "shard-0000x", "shard-99999999999"})
        EXPECT_EQ(shard_number(name), std::nullopt) << name;
    const FleetFolder fleet = make_fleet_folder(plan(3));
    for (const char* name : {"shard-00002.db", "card-n1.db", "shard-00001.db.part-1", "shard-00004.db", "notes.db"})
        testing::write_file(fleet.path / "shards" / name, "");
    EXPECT_THAT(stored_names(fleet), ElementsAre("card-n1", "shard-00002"));
}

// SQLite leaves a log beside a database that is opened in its folder, and an older one would be raised there.
TEST_F(FleetFolderTest, ReadsADatabaseWithoutTouchingIt) {
    const FleetFolder fleet = make_fleet_folder(plan());
    store(fleet, "shard-00001", {measured(1)}, "n1", "s1");
    const auto file = fleet.shard_file("shard-00001", ".db");
    const std::string before = testing::read_file(file);
    {
        const ShardCopy copy(file);
        EXPECT_EQ(copy.dataset().operations().size(), 1u);
        EXPECT_EQ(copy.remark(), "");
    }
    EXPECT_EQ(testing::read_file(file), before);
    EXPECT_FALSE(std::filesystem::exists(file.string() + "-wal"));
}

TEST_F(FleetFolderTest, NamesAnOlderDatabaseAndLeavesItAsItIs) {
    const auto file = folder.path() / "version_1.db";
    sqlite::Connection(file, sqlite::Connection::Access::read_write)
        .execute(testing::read_file(std::string(JOULECAST_SOURCE_DIR) + "/tests/dataset/data/version_1.sql"));
    const std::string before = testing::read_file(file);
    const ShardCopy copy(file);
    EXPECT_THAT(copy.remark(), HasSubstr("older joulecast (version 1 of"));
    EXPECT_FALSE(copy.dataset().operations().empty());
    EXPECT_EQ(testing::read_file(file), before);
}

TEST_F(FleetFolderTest, NamesADatabaseThatCannotBeRead) {
    const FleetFolder fleet = make_fleet_folder(plan());
    store(fleet, "shard-00001", {measured(1), measured(2), measured(3)}, "n1", "s1");
    const auto file = fleet.shard_file("shard-00001", ".db");
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    const auto read = [&] {
        const ShardCopy copy(file);
        return copy.dataset().operations().size();
    };
    EXPECT_THROW(read(), Error);
    testing::write_file(file, "no database");
    EXPECT_THROW(read(), Error);
}

}  // namespace
}  // namespace joulecast
