// Memory and disk fail at every place in turn, as SQLite's own tests let them, and power is lost at every moment: no
// row that was committed is lost, nothing is stored by half, and whoever asked is told.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <vector>

#include <sqlite3.h>

#include "dataset/samples.h"
#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/sqlite.h"
#include "tests/faults/failing_allocation.h"
#include "tests/faults/faults.h"
#include "tests/faults/recorded_disk.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;
namespace fs = std::filesystem;

std::string text_of(const Dataset& dataset) {
    std::ostringstream text;
    export_csv(dataset, text, true);
    return text.str();
}

/// What the query answers, one line for each row.
std::string answer(sqlite3* connection, const std::string& query) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(connection, query.c_str(), -1, &statement, nullptr) != SQLITE_OK)
        throw Error(sqlite3_errmsg(connection));
    std::string text;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(statement); ++column) {
            const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
            if (bytes != nullptr) text.append(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
            text += '|';
        }
        text += '\n';
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) throw Error(sqlite3_errmsg(connection));
    return text;
}

/// All that the database holds, its version among it; damage is an Error.
std::string text_of(const fs::path& file) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> connection(opened, sqlite3_close);
    if (code != SQLITE_OK) throw Error(sqlite3_errmsg(opened));
    std::string text = answer(opened, "PRAGMA integrity_check");
    if (text != "ok|\n") throw Error("damaged: " + text);
    text += answer(opened, "PRAGMA user_version");
    std::istringstream tables(answer(opened, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"));
    for (std::string table; std::getline(tables, table, '|');) {
        table.erase(0, table.find_first_not_of('\n'));
        if (!table.empty() && table != "\n") text += table + ":\n" + answer(opened, "SELECT * FROM " + table);
    }
    return text;
}

std::string content_of(const fs::path& file) {
    std::ifstream input(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(input), {}};
}

struct Step {
    std::string name;
    std::function<void(Dataset&)> take;
};

const std::vector<Step>& steps() {
    static const std::vector<Step> all = {
        {"insert an operation",
         [](Dataset& dataset) { dataset.insert(sample_measurement(relu(3)), sample_provenance("s2")); }},
        {"insert a network",
         [](Dataset& dataset) { dataset.insert(sample_network("resnet18", 8), sample_provenance()); }},
        {"insert a reference",
         [](Dataset& dataset) { dataset.insert(sample_reference("2026-01-02T03:04:07.007Z", 0.1)); }},
        {"insert a device", [](Dataset& dataset) { dataset.insert(sample_device("cpu-other")); }},
        {"replace", [](Dataset& dataset) { dataset.replace(1, sample_measurement(relu(1)), sample_provenance("s3")); }},
        {"remark", [](Dataset& dataset) { dataset.remark_operation(1, "a remark"); }},
        {"insert many",
         [](Dataset& dataset) {
             std::vector<OperationRow> rows;
             for (std::int64_t batch = 10; batch < 14; ++batch)
                 rows.push_back({0, sample_measurement(relu(batch)), Mode::inference, sample_provenance("s4")});
             dataset.insert_missing({sample_device()}, rows, {});
         }},
        {"import",
         [](Dataset& dataset) {
             static const std::string csv = [] {
                 Dataset other(":memory:");
                 other.insert(sample_device());
                 for (std::int64_t batch = 20; batch < 23; ++batch)
                     other.insert(sample_measurement(relu(batch)), sample_provenance("s5"));
                 other.insert(sample_network("resnet34", 8), sample_provenance("s5"));
                 return text_of(other);
             }();
             std::istringstream input(csv);
             import_csv(dataset, input, "made.csv");
         }},
    };
    return all;
}

class FaultyDataset : public FaultyFolder {
  protected:
    static void SetUpTestSuite() { FailingSqliteAllocation::take_over(); }

    void SetUp() override {
        FaultyFolder::SetUp();
        Dataset made(folder / "sound.db");
        made.insert(sample_device());
        for (std::int64_t batch = 1; batch <= 2; ++batch)
            made.insert(sample_measurement(relu(batch)), sample_provenance());
    }

    fs::path file() const { return folder / "a.db"; }
    void begin_anew() const {
        for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(file().string() + end);
        fs::copy_file(folder / "sound.db", file());
    }

    /// Each step under each fault: it is stored as a whole and says so, or nothing is, and the rows before stay.
    template <class Fault>
    std::int64_t fail_every_step(std::int64_t most) {
        const std::string before = text_of(folder / "sound.db");
        std::int64_t failed = 0;
        for (const Step& step : steps()) {
            begin_anew();
            {
                Dataset dataset(file());
                step.take(dataset);
            }
            const std::string after = text_of(file());
            EXPECT_NE(before, after) << step.name;
            std::unique_ptr<Dataset> dataset;
            const auto prepare = [&] {
                dataset.reset();
                begin_anew();
                dataset = std::make_unique<Dataset>(file());
            };
            const auto check = [&](Ended ended) {
                const std::string found = text_of(file());
                EXPECT_TRUE(found == after || (ended == Ended::badly && found == before)) << found;
                if (found == after) return;
                // The same database goes on where memory or disk are there again.
                step.take(*dataset);
                EXPECT_EQ(text_of(file()), after);
            };
            failed += fail_each<Fault>(step.name, most, prepare, [&] { step.take(*dataset); }, check);
        }
        return failed;
    }

    /// Opening under each fault: a new file, one that is there, one of an earlier version.
    template <class Fault>
    std::int64_t fail_every_opening(std::int64_t most) {
        {
            sqlite::Connection old(folder / "old.db", sqlite::Connection::Access::read_write);
            old.execute(content_of(fs::path(JOULECAST_SOURCE_DIR) / "tests/dataset/data/version_2.sql"));
        }
        std::int64_t failed = 0;
        for (const std::string source : {"", "sound.db", "old.db"}) {
            const auto begin = [&] {
                begin_anew();
                fs::remove(file());
                if (!source.empty()) fs::copy_file(folder / source, file());
            };
            begin();
            {
                const Dataset opened(file());
            }
            const std::string after = text_of(file());
            const auto check = [&](Ended /*ended*/) {
                {
                    const Dataset again(file());
                }
                EXPECT_EQ(text_of(file()), after);
            };
            failed += fail_each<Fault>("open " + source, most, begin, [&] { const Dataset dataset(file()); }, check);
        }
        return failed;
    }

    static void tell(std::int64_t failed, const std::string& what) {
        std::cout << failed << " " << what << " failed in turn\n";
        ::testing::Test::RecordProperty("failed", std::to_string(failed));
    }
};

TEST_F(FaultyDataset, KeepsItsRowsWhicheverAllocationFails) {
    tell(fail_every_step<FailingAllocation>(most_faults(3)) + fail_every_opening<FailingAllocation>(most_faults(3)),
         "allocations");
}

TEST_F(FaultyDataset, KeepsItsRowsWhicheverAllocationOfSqliteFails) {
    tell(fail_every_step<FailingSqliteAllocation>(most_faults(3)) +
             fail_every_opening<FailingSqliteAllocation>(most_faults(3)),
         "allocations of SQLite");
}

TEST_F(FaultyDataset, KeepsItsRowsWhicheverWriteFails) {
    const RecordedDisk disk;
    tell(fail_every_step<FailingChange>(most_faults(3)) + fail_every_opening<FailingChange>(most_faults(3)), "writes");
}

TEST_F(FaultyDataset, IsReadWholeOrNotAtAllWhicheverAllocationFails) {
    const Dataset dataset(folder / "sound.db", Dataset::Access::read_only);
    const std::string whole = text_of(dataset);
    std::string read;
    const auto prepare = [&] { read.clear(); };
    const auto check = [&](Ended ended) { EXPECT_TRUE(ended == Ended::badly || read == whole); };
    const auto action = [&] { read = text_of(dataset); };
    tell(fail_each<FailingAllocation>("read", most_faults(60), prepare, action, check) +
             fail_each<FailingSqliteAllocation>("read", most_faults(60), prepare, action, check),
         "allocations of a reader");
}

/// Rows inserted one by one, the file closed and opened and its log brought into it in between.
class PowerLoss : public FaultyDataset {
  protected:
    /// How many changes of the disk there were when each row was said to be stored.
    std::vector<std::size_t> store(const RecordedDisk& disk, std::int64_t rows) const {
        std::vector<std::size_t> stored;
        for (std::int64_t row = 0; row < rows;) {
            Dataset dataset(file());
            if (row == 0) dataset.insert(sample_device());
            for (int in_this_opening = 0; in_this_opening < 4 && row < rows; ++in_this_opening, ++row) {
                dataset.insert(sample_measurement(relu(row + 1)), sample_provenance("s" + std::to_string(row % 2)));
                stored.push_back(disk.changes().size());
                if (in_this_opening == 1)
                    sqlite::Connection(file(), sqlite::Connection::Access::read_write)
                        .execute("PRAGMA wal_checkpoint(PASSIVE)");
            }
        }
        return stored;
    }

    /// The rows that the file holds after a loss, and whether it is sound.
    std::int64_t rows_after(const std::map<std::string, std::string>& files) const {
        begin_anew();
        fs::remove(file());
        for (const auto& [name, content] : files) std::ofstream(name, std::ios::binary) << content;
        {
            // Whoever measures on writes.
            Dataset dataset(file());
            dataset.insert(sample_device("cpu-next"));
        }
        text_of(file());
        const auto rows = Dataset(file(), Dataset::Access::read_only).operations();
        for (std::size_t row = 0; row < rows.size(); ++row)
            EXPECT_EQ(rows[row].measurement.operation, relu(static_cast<std::int64_t>(row) + 1));
        return static_cast<std::int64_t>(rows.size());
    }
};

TEST_F(PowerLoss, AtAnyMomentLeavesEveryRowThatWasSaidToBeStored) {
    std::vector<RecordedDisk::Change> changes;
    std::vector<std::size_t> stored;
    {
        const RecordedDisk disk;
        stored = store(disk, 10);
        changes = disk.changes();
    }
    std::mt19937 random(24);
    const std::int64_t losses = most_faults(80);
    const std::size_t step = changes.size() / static_cast<std::size_t>(losses) + 1;
    const int each = step == 1 ? 20 : 1;
    std::int64_t replayed = 0;
    for (std::size_t first = 0; first <= changes.size(); first += step) {
        const auto least = std::ranges::upper_bound(stored, first) - stored.begin();
        for (int loss = 0; loss < each; ++loss, ++replayed) {
            SCOPED_TRACE("after " + std::to_string(first) + " of " + std::to_string(changes.size()) + " changes");
            std::int64_t found = -1;
            ASSERT_NO_THROW(found = rows_after(after_loss(std::span(changes).first(first), random)));
            ASSERT_GE(found, least);
            ASSERT_LE(found, least + 1);
        }
    }
    std::cout << replayed << " losses of power replayed\n";
}

}  // namespace
}  // namespace joulecast
