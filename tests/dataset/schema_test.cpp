#include "joulecast/dataset/schema.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "dataset/samples.h"
#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/csv.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;
using Access = sqlite::Connection::Access;

class SchemaTest : public DatasetFolder {
  protected:
    std::filesystem::path file() const { return folder / "a.db"; }
};

std::string content_of(const std::string& name) {
    std::ifstream input(std::string(JOULECAST_SOURCE_DIR) + "/tests/dataset/data/" + name, std::ios::binary);
    std::ostringstream text;
    text << input.rdbuf();
    return text.str();
}

std::string csv_of(const Dataset& dataset) {
    std::ostringstream csv;
    export_csv(dataset, csv, true);
    return csv.str();
}

TEST_F(SchemaTest, OpensTheSampleOfVersionOne) {
    sqlite::Connection(file(), Access::read_write).execute(content_of("version_1.sql"));
    ASSERT_EQ(sqlite::Connection(file(), Access::read_only).integer("PRAGMA user_version"), 1);
    const Dataset dataset(file());
    EXPECT_EQ(dataset.schema_version(), static_cast<std::int64_t>(dataset_migrations().size()));
    // Its export of that time still imports, and says the same.
    std::istringstream old_csv(content_of("version_1.csv"));
    Dataset imported(folder / "imported.db");
    EXPECT_GT(import_csv(imported, old_csv, "version_1.csv").added, 0);
    EXPECT_EQ(csv_of(dataset), csv_of(imported));
}

/// Files as every earlier version wrote them.
class EarlierVersion : public DatasetFolder, public ::testing::WithParamInterface<int> {};

TEST_P(EarlierVersion, OpensWithAllItsRowsAndTheEngineThatItsSessionsTell) {
    const auto file = folder / "old.db";
    std::map<std::string, std::int64_t> rows;
    const std::vector<std::string> tables = {"operations", "networks", "sessions", "devices", "operation_blocks"};
    {
        sqlite::Connection old(file, Access::read_write);
        old.execute(content_of("version_" + std::to_string(GetParam()) + ".sql"));
        ASSERT_EQ(old.integer("PRAGMA user_version"), GetParam());
        for (const std::string& table : tables) rows[table] = old.integer("SELECT count(*) FROM " + table);
    }
    const Dataset dataset(file);
    EXPECT_EQ(dataset.schema_version(), static_cast<std::int64_t>(dataset_migrations().size()));
    const sqlite::Connection raised(file, Access::read_only);
    for (const std::string& table : tables) EXPECT_EQ(raised.integer("SELECT count(*) FROM " + table), rows[table]);
    // "none" and "torch 2.13.0" are torch; the others are called after their frameworks.
    const auto engine = [](const Provenance& who) {
        return who.framework == "onnxruntime 1.20.1" ? "onnxruntime" : who.framework == "vllm 0.12" ? "vllm" : "torch";
    };
    for (const OperationRow& row : dataset.operations()) {
        EXPECT_EQ(row.measurement.asked.engine, engine(row.provenance));
        EXPECT_EQ(row.measurement.real.engine, engine(row.provenance));
    }
    for (const NetworkRow& row : dataset.networks()) EXPECT_EQ(row.measurement.asked.engine, engine(row.provenance));
    for (const ReferenceRow& row : dataset.references()) EXPECT_EQ(row.asked.engine, engine(row.provenance));
    EXPECT_EQ(dataset.references().size(), GetParam() >= 4 ? 1u : 0u);
    EXPECT_EQ(dataset.network_operations().size(), GetParam() >= 6 ? 1u : 0u);
    EXPECT_EQ(dataset.idle_points("cpu-test").size(), GetParam() >= 7 ? 1u : 0u);
}

// A new version needs a sample of the one before it: the list below must reach it.
INSTANTIATE_TEST_SUITE_P(All, EarlierVersion, ::testing::Range(1, 13));

TEST_F(SchemaTest, HasASampleOfEveryEarlierVersion) {
    for (std::size_t version = 1; version < dataset_migrations().size(); ++version)
        EXPECT_NE(content_of("version_" + std::to_string(version) + ".sql"), "") << version;
    EXPECT_EQ(dataset_migrations().size(), 13u) << "widen the range above";
}

// Until schema 13 the zoo's transformers were as torch.export traces them; "resnet18" was always as it is.
TEST_F(SchemaTest, CallsNetworksOfBeforeByTheGraphsThatTheyWere) {
    {
        sqlite::Connection old(file(), Access::read_write);
        old.execute(content_of("version_12.sql"));
        old.execute("UPDATE networks SET model = 'bert-base' WHERE id = (SELECT min(id) FROM networks)");
    }
    std::vector<std::string> names;
    for (const NetworkRow& row : Dataset(file()).networks()) names.push_back(row.measurement.model);
    EXPECT_THAT(names, ::testing::Contains("bert-base@traced"));
    EXPECT_THAT(names, ::testing::Not(::testing::Contains("bert-base")));
    // Once: what is measured from now on is the new graph.
    sqlite::Connection(file(), Access::read_write).execute("UPDATE networks SET model = 'gpt2'");
    for (const NetworkRow& row : Dataset(file()).networks()) EXPECT_EQ(row.measurement.model, "gpt2");
}

TEST_F(SchemaTest, RaisesAnOlderFileForWhoOnlyReadsIt) {
    sqlite::Connection(file(), Access::read_write).execute(content_of("version_1.sql"));
    const Dataset dataset(file(), Dataset::Access::read_only);
    EXPECT_EQ(dataset.schema_version(), static_cast<std::int64_t>(dataset_migrations().size()));
    EXPECT_FALSE(dataset.operations().empty());
}

TEST_F(SchemaTest, SaysWhatToDoWithAnOlderFileThatNobodyMayWrite) {
    sqlite::Connection(file(), Access::read_write).execute(content_of("version_1.sql"));
    std::filesystem::permissions(file(), std::filesystem::perms::owner_read);
    if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
    try {
        const Dataset dataset(file(), Dataset::Access::read_only);
        ADD_FAILURE() << "opened";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("Copy it to where you may write"));
    }
}

/// Why a database of ours is not opened once that was done to it, whether to be read or written.
class TamperedWith : public SchemaTest {
  protected:
    std::string refusal(const std::string& sql) {
        std::filesystem::remove(file());
        {
            const Dataset made(file());
        }
        sqlite::Connection(file(), Access::read_write).execute(sql);
        std::string why = "none";
        for (const auto access : {Dataset::Access::read_only, Dataset::Access::read_write}) {
            try {
                const Dataset dataset(file(), access);
                return "opened";
            } catch (const Error& error) {
                why = error.what();
            }
        }
        return why;
    }
};

TEST_F(TamperedWith, WhatWouldBeRunIsRefused) {
    EXPECT_THAT(refusal("ALTER TABLE idle_points RENAME TO kept; CREATE VIEW idle_points AS WITH RECURSIVE n(x) AS "
                        "(SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS device FROM n"),
                HasSubstr("has a view 'idle_points'"));
    EXPECT_THAT(refusal("CREATE TRIGGER gone AFTER INSERT ON operations BEGIN DELETE FROM operations; END"),
                HasSubstr("has a trigger 'gone'"));
    EXPECT_THAT(refusal("CREATE INDEX slow ON operations (printf('%.*c', 1000, 'x'))"), HasSubstr("index 'slow'"));
    EXPECT_THAT(refusal("ALTER TABLE devices ADD COLUMN twice REAL GENERATED ALWAYS AS (2 * idle_w) VIRTUAL"),
                HasSubstr("another table 'devices'"));
}

TEST_F(TamperedWith, WhatIsMissingOrOtherwiseIsNamed) {
    EXPECT_THAT(refusal("DROP TABLE idle_points"), HasSubstr("lacks the table 'idle_points'"));
    EXPECT_THAT(refusal("DROP INDEX operations_key"), HasSubstr("lacks the index 'operations_key'"));
    EXPECT_THAT(refusal("DROP INDEX operations_key; CREATE UNIQUE INDEX operations_key ON operations (operation)"),
                HasSubstr("another index 'operations_key'"));
    EXPECT_THAT(refusal("ALTER TABLE operations DROP COLUMN wall_s"), HasSubstr("another table 'operations'"));
}

TEST_F(TamperedWith, ATableOfSomebodyElseMayStay) {
    EXPECT_EQ(refusal("CREATE TABLE notes (text TEXT); CREATE INDEX of_notes ON notes (text); ANALYZE"), "opened");
}

TEST_F(TamperedWith, ARowThatIsTooLongIsRefused) {
    std::filesystem::remove(file());
    {
        const Dataset made(file());
    }
    sqlite::Connection connection(file(), Access::read_write);
    EXPECT_THROW(connection.execute("CREATE TABLE t (x BLOB); INSERT INTO t VALUES (zeroblob(100000000))"), Error);
}

TEST_F(SchemaTest, WritesStridesWhereVersionOneHadALetter) {
    {
        sqlite::Connection old(file(), Access::read_write);
        old.execute(content_of("version_1.sql"));
        old.execute("UPDATE operations SET operation = 'aten::relu(self=f32[2,4,3,5]{t})' WHERE id = 1");
    }
    const Dataset dataset(file());
    const sqlite::Connection raised(file(), Access::read_only);
    // Tokens and heads exchanged: [2,3,4,5] is stored, strides 60, 20, 5, 1.
    auto select = raised.prepare("SELECT operation FROM operations WHERE id = 1");
    ASSERT_TRUE(select.step());
    EXPECT_EQ(select.text(0), "aten::relu(self=f32[2,4,3,5]{60,5,20,1})");
    EXPECT_EQ(raised.integer("SELECT count(*) FROM operations WHERE instr(operation, '{t}') > 0"), 0);
}

TEST_F(SchemaTest, KeepsOneOfTwoRowsThatTurnOutToBeTheSameOperation) {
    std::int64_t rows = 0;
    {
        sqlite::Connection old(file(), Access::read_write);
        old.execute(content_of("version_1.sql"));
        rows = old.integer("SELECT count(*) FROM operations");
        // A row of one element has one order only.
        old.execute("UPDATE operations SET operation = 'aten::relu(self=f32[1,6])' WHERE id = 1");
        old.execute("CREATE TEMP TABLE twin AS SELECT * FROM operations WHERE id = 1");
        old.execute("UPDATE twin SET id = 1000, operation = 'aten::relu(self=f32[1,6]{t})'");
        old.execute("INSERT INTO operations SELECT * FROM twin");
    }
    const Dataset dataset(file());
    const sqlite::Connection raised(file(), Access::read_only);
    EXPECT_EQ(raised.integer("SELECT count(*) FROM operations"), rows);
    EXPECT_EQ(raised.integer("SELECT count(*) FROM operations WHERE id = 1000"), 0);
}

TEST_F(SchemaTest, StepsThroughEveryMigrationOnce) {
    const Migration first[] = {{"CREATE TABLE t (x_s REAL) STRICT; INSERT INTO t VALUES (1.5)"}};
    const Migration second[] = {
        first[0], {"ALTER TABLE t RENAME COLUMN x_s TO time_s"}, {"UPDATE t SET time_s = 2 * time_s"}};
    sqlite::Connection connection(file(), Access::read_write);
    migrate(connection, first);
    EXPECT_EQ(connection.integer("PRAGMA user_version"), 1);
    EXPECT_TRUE(needs_migration(connection, second));
    migrate(connection, second);
    EXPECT_FALSE(needs_migration(connection, second));
    migrate(connection, second);
    EXPECT_EQ(connection.integer("PRAGMA user_version"), 3);
    EXPECT_EQ(connection.integer("SELECT time_s = 3.0 FROM t"), 1);  // doubled once
}

TEST_F(SchemaTest, LeavesAFailedMigrationAtTheVersionBefore) {
    const Migration broken[] = {{"CREATE TABLE t (x)"}, {"CREATE TABLE u (x); CREATE TABLE t (x)"}};
    sqlite::Connection connection(file(), Access::read_write);
    EXPECT_THROW(migrate(connection, broken), Error);
    EXPECT_EQ(connection.integer("PRAGMA user_version"), 1);
    EXPECT_EQ(connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'u'"), 0);
}

TEST_F(SchemaTest, RefusesANewerVersionAndNamesBoth) {
    {
        const Dataset dataset(file());
    }
    sqlite::Connection(file(), Access::read_write).execute("PRAGMA user_version = 99");
    for (const auto access : {Dataset::Access::read_write, Dataset::Access::read_only}) {
        try {
            const Dataset dataset(file(), access);
            ADD_FAILURE() << "opened";
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("has schema version 99, this joulecast knows versions up to " +
                                                std::to_string(dataset_migrations().size())));
        }
    }
}

/// The column lists and the tables are written twice: they must say the same.
template <class Row>
void expect_columns(const sqlite::Connection& connection, const std::string& table,
                    const std::vector<StoredColumn<Row>>& columns) {
    std::vector<std::string> expected;
    for (const auto& column : columns) {
        const char* types[] = {" INTEGER", " REAL", " TEXT"};
        expected.push_back(column.name + types[static_cast<int>(column.type)]);
    }
    std::vector<std::string> stored;
    auto select = connection.prepare("SELECT name, type FROM pragma_table_info('" + table +
                                     "') WHERE name NOT IN ('id', 'session_id')");
    while (select.step()) stored.push_back(select.text(0) + " " + select.text(1));
    // What later versions added stands at the end of the table.
    EXPECT_THAT(stored, ::testing::UnorderedElementsAreArray(expected));
}

TEST_F(SchemaTest, HasExactlyTheListedColumnsInEveryTable) {
    {
        const Dataset dataset(file());
    }
    const sqlite::Connection connection(file(), Access::read_only);
    expect_columns(connection, "operations", operation_columns());
    expect_columns(connection, "networks", network_columns());
    expect_columns(connection, "sessions", session_columns());
    expect_columns(connection, "devices", device_columns());
    expect_columns(connection, "reference_runs", reference_columns());
    expect_columns(connection, "network_operations", network_operation_columns());
}

TEST_F(SchemaTest, SaysThatThereIsNoSpaceWhenTheDatabaseMayNotGrow) {
    sqlite::Connection connection(file(), Access::read_write);
    migrate(connection, dataset_migrations());
    connection.execute("PRAGMA max_page_count = 1");  // raised by SQLite to the present size: no page more
    connection.execute("CREATE TEMP TABLE n (i)");
    try {
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO devices "
            "(device, display_name, device_kind, device_units, device_source) SELECT i, hex(zeroblob(500)), 'cpu', 1, "
            "'' FROM n");
        ADD_FAILURE() << "wrote it";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("no space left to write database"));
    }
    EXPECT_EQ(connection.integer("SELECT count(*) FROM devices"), 0);
}

}  // namespace
}  // namespace joulecast
