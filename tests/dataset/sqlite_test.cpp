#include "joulecast/dataset/sqlite.h"

#include <cmath>

#include <gmock/gmock.h>

#include "dataset/samples.h"
#include "joulecast/error.h"

namespace joulecast::sqlite {
namespace {

using ::testing::HasSubstr;

class SqliteTest : public joulecast::testing::DatasetFolder {};

TEST_F(SqliteTest, BindsAndReadsEveryKindOfField) {
    Connection connection(folder / "x.db", Connection::Access::read_write);
    auto select = connection.prepare("SELECT ?1, ?2, ?3, ?4, ?5");
    select.bind(1, std::int64_t{-7}).bind(2, 0.1).bind(3, std::string("a\0b", 3)).bind(4, std::nan(""));
    select.bind_doubles(5, std::vector<double>{1.5, -2.5});
    ASSERT_TRUE(select.step());
    EXPECT_EQ(select.field(0), Field{std::int64_t{-7}});
    EXPECT_EQ(select.field(1), Field{0.1});
    EXPECT_EQ(select.field(2), Field{std::string("a\0b", 3)});
    EXPECT_EQ(select.field(3), Field{});
    EXPECT_EQ(select.doubles(4), (std::vector<double>{1.5, -2.5}));
}

TEST_F(SqliteTest, RefusesABlobThatIsNoListOfDoubles) {
    Connection connection(folder / "x.db", Connection::Access::read_write);
    auto select = connection.prepare("SELECT x'010203'");
    ASSERT_TRUE(select.step());
    EXPECT_THROW(select.doubles(0), FormatError);
}

TEST_F(SqliteTest, RollsBackWhatIsNotCommitted) {
    Connection connection(folder / "x.db", Connection::Access::read_write);
    connection.execute("CREATE TABLE t (x)");
    {
        Transaction transaction(connection);
        connection.execute("INSERT INTO t VALUES (1)");
    }
    EXPECT_EQ(connection.integer("SELECT count(*) FROM t"), 0);
    Transaction transaction(connection);
    connection.execute("INSERT INTO t VALUES (1)");
    transaction.commit();
    EXPECT_EQ(connection.integer("SELECT count(*) FROM t"), 1);
}

// A rollback for which there was no memory left the transaction open, and no other could begin.
TEST_F(SqliteTest, ATransactionThatWasLeftOpenIsRolledBackByTheNext) {
    Connection connection(folder / "x.db", Connection::Access::read_write);
    connection.execute("CREATE TABLE t (x); BEGIN; INSERT INTO t VALUES (1)");
    Transaction transaction(connection);
    EXPECT_EQ(connection.integer("SELECT count(*) FROM t"), 0);
    connection.execute("INSERT INTO t VALUES (2)");
    transaction.commit();
    EXPECT_FALSE(connection.is_in_transaction());
    EXPECT_EQ(connection.integer("SELECT sum(x) FROM t"), 2);
}

TEST_F(SqliteTest, StopsAStatementThatHasNoEnd) {
    Connection connection(folder / "x.db", Connection::Access::read_write);
    const auto refuses = [](const auto& call) {
        try {
            call();
            ADD_FAILURE() << "came to an end";
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("takes more work to read than rows of its size can need"));
        }
    };
    const std::string endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
    refuses([&] { connection.integer(endless + "SELECT count(*) FROM n"); });
    refuses(
        [&] { connection.execute("CREATE TABLE t (x); INSERT INTO t " + endless + "SELECT 1 FROM n WHERE x < 0"); });
    refuses([&] {
        // One row at a time, with other statements in between.
        Statement rows = connection.prepare(endless + "SELECT x FROM n");
        Statement other = connection.prepare("SELECT 1");
        for (int row = 0; rows.step(); ++row)
            if (row % 100'000 == 0) other.run();
    });
    EXPECT_EQ(connection.integer("SELECT 7"), 7) << "the next statement is counted by itself";
}

TEST_F(SqliteTest, AllowsManyRunsOfOneStatement) {
    Connection connection(folder / "x.db", Connection::Access::read_write);
    connection.execute("CREATE TABLE t (x)");
    const Transaction transaction(connection);
    Statement numbers = connection.prepare(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 500000) SELECT count(*) FROM n");
    for (int run = 0; run < 20; ++run) numbers.run();  // more steps together than one may take
}

TEST_F(SqliteTest, NamesTheProgramThatHoldsTheLock) {
    Connection one(folder / "x.db", Connection::Access::read_write);
    one.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
    const Transaction held(one);
    Connection two(folder / "x.db", Connection::Access::read_write);
    two.execute("PRAGMA busy_timeout = 0");
    try {
        const Transaction refused(two);
        ADD_FAILURE() << "took the lock";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("has been locked by"));
        EXPECT_THAT(error.what(), HasSubstr("the program with process id " + std::to_string(::getpid())));
    }
}

}  // namespace
}  // namespace joulecast::sqlite
