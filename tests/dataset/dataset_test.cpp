#include "joulecast/dataset/dataset.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <cmath>
#include <csignal>
#include <set>

#include <gmock/gmock.h>

#include "dataset/samples.h"
#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/sqlite.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;

class DatasetTest : public DatasetFolder {
  protected:
    std::filesystem::path file() const { return folder / "a.db"; }

    static MeasurementKey key(const Operation& operation) {
        MeasurementKey wanted;
        wanted.device = "cpu-test";
        wanted.operation = signature(operation);
        wanted.sm_clock_mhz = std::nan("");
        wanted.threads = 2;
        return wanted;
    }
};

/// Text of every stored column: equal texts are equal rows.
template <class Row>
std::string text_of(const std::vector<StoredColumn<Row>>& columns, const Row& row) {
    std::string text;
    for (const auto& column : columns) {
        const Field field = column.get(row);
        std::visit(
            [&](const auto& value) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                    std::ostringstream stream;
                    stream.precision(17);
                    stream << column.name << "=" << value << "\n";
                    text += stream.str();
                }
            },
            field);
    }
    return text;
}

template <class Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST_F(DatasetTest, GivesBackEveryNumberOfAnOperation) {
    const Measurement stored = sample_measurement(relu(8));
    {
        Dataset dataset(file());
        dataset.insert(sample_device());
        dataset.insert(stored, sample_provenance());
    }
    const Dataset dataset(file(), Dataset::Access::read_only);
    const auto rows = dataset.operations({}, true);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].measurement.operation, relu(8));
    EXPECT_EQ(rows[0].measurement.block_s, stored.block_s);
    EXPECT_FALSE(rows[0].measurement.forward.has_value());
    EXPECT_FALSE(rows[0].measurement.energy.has_value());
    EXPECT_FALSE(rows[0].measurement.issue.has_value());
    EXPECT_EQ(rows[0].measurement.conditions.limited_by, LimitedBy::power_cap);
    EXPECT_TRUE(std::isnan(rows[0].measurement.asked.sm_clock_mhz));
    EXPECT_EQ(rows[0].measurement.real.sm_clock_mhz, 2400.5);
    EXPECT_EQ(text_of(operation_columns(), rows[0]),
              text_of(operation_columns(), OperationRow{0, stored, Mode::inference, {}}));
    EXPECT_EQ(text_of(session_columns(), rows[0].provenance), text_of(session_columns(), sample_provenance()));
    EXPECT_TRUE(dataset.operations({}, false)[0].measurement.block_s.empty());
}

TEST_F(DatasetTest, GivesBackEveryNumberOfANetworkAndADevice) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    dataset.insert(sample_network("resnet18", 8), sample_provenance());
    const auto rows = dataset.networks({}, true);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(text_of(network_columns(), rows[0]),
              text_of(network_columns(), NetworkRow{0, sample_network("resnet18", 8), {}}));
    EXPECT_EQ(rows[0].measurement.block_s, sample_network("resnet18", 8).block_s);
    ASSERT_TRUE(rows[0].measurement.energy.has_value());
    EXPECT_EQ(rows[0].measurement.energy->drift_per_s, -0.002);
    EXPECT_EQ(rows[0].measurement.optimizer, Optimizer::adam);
    ASSERT_EQ(dataset.devices().size(), 1u);
    EXPECT_EQ(text_of(device_columns(), dataset.devices()[0]), text_of(device_columns(), sample_device()));
}

TEST_F(DatasetTest, ContainsWhatWouldBeMeasuredTheSameOnly) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    dataset.insert(sample_measurement(relu(8)), sample_provenance());
    EXPECT_TRUE(dataset.contains(key(relu(8))));
    EXPECT_FALSE(dataset.contains(key(relu(9))));
    MeasurementKey other = key(relu(8));
    other.threads = 1;
    EXPECT_FALSE(dataset.contains(other));
    other = key(relu(8));
    other.sm_clock_mhz = 900;
    EXPECT_FALSE(dataset.contains(other));
    other = key(relu(8));
    other.method = "thesis";
    EXPECT_FALSE(dataset.contains(other));
    other = key(relu(8));
    other.math = Math::tf32;
    EXPECT_FALSE(dataset.contains(other));

    EXPECT_FALSE(dataset.contains(sample_network("resnet18", 8)));
    dataset.insert(sample_network("resnet18", 8), sample_provenance());
    EXPECT_TRUE(dataset.contains(sample_network("resnet18", 8)));
    EXPECT_FALSE(dataset.contains(sample_network("resnet18", 16)));
    NetworkMeasurement half = sample_network("resnet18", 8);
    half.precision = "bf16";
    EXPECT_FALSE(dataset.contains(half));
}

TEST_F(DatasetTest, AnotherEngineWasNotMeasured) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    dataset.insert(sample_measurement(relu(8)), sample_provenance());
    dataset.insert(sample_network("resnet18", 8), sample_provenance());
    MeasurementKey other = key(relu(8));
    EXPECT_TRUE(dataset.contains(other));
    other.engine = "onnxruntime";
    EXPECT_FALSE(dataset.contains(other));
    NetworkMeasurement network = sample_network("resnet18", 8);
    network.asked.engine = network.real.engine = "onnxruntime";
    EXPECT_FALSE(dataset.contains(network));
    // And the same session may hold both: the index knows the engine too.
    dataset.insert(network, sample_provenance());
    Measurement second = sample_measurement(relu(8));
    second.asked.engine = second.real.engine = "onnxruntime";
    dataset.insert(second, sample_provenance());
    EXPECT_TRUE(dataset.contains(other));
    EXPECT_TRUE(dataset.contains(network));
    EXPECT_EQ(dataset.operations()[1].measurement.real.engine, "onnxruntime");
    EXPECT_EQ(dataset.row_groups().size(), 4u);
}

/// A card whose rows all asked for the clock and limit as they are.
Measurement as_it_was(std::int64_t batch, double real_mhz, double limit_w = 165, double memory_mhz = 1215) {
    Measurement m = sample_measurement(relu(batch));
    m.real.sm_clock_mhz = real_mhz;
    m.real.power_limit_w = limit_w;
    m.real.memory_clock_mhz = memory_mhz;
    return m;
}

// A job script had set 900 MHz, and everything measured at 1440 MHz the day before counted as measured.
TEST_F(DatasetTest, AClockThatSomebodyElseSetWasNotMeasuredAtAnother) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    // Free: heavy operations run at their power cap, light ones as fast as the card can.
    dataset.insert(as_it_was(8, 1210), sample_provenance("free"));
    dataset.insert(as_it_was(9, 1440), sample_provenance("free"));
    MeasurementKey wanted = key(relu(8));
    wanted.found = {1440, 1215, 165};
    EXPECT_TRUE(dataset.contains(wanted));
    wanted.found.sm_clock_mhz = 1395;  // warmer: boost has lost 3 %
    EXPECT_TRUE(dataset.contains(wanted));
    wanted.found.sm_clock_mhz = 900;
    EXPECT_FALSE(dataset.contains(wanted));
    wanted.found.sm_clock_mhz = 1215;  // as the heavy one ran, but the light ones of its session did not
    EXPECT_FALSE(dataset.contains(wanted));
    dataset.insert(as_it_was(8, 1208), sample_provenance("held at 1215"));
    EXPECT_TRUE(dataset.contains(wanted));
    wanted.found.sm_clock_mhz = std::nan("");  // nobody tells: it must not be measured again and again
    EXPECT_TRUE(dataset.contains(wanted));
}

TEST_F(DatasetTest, ReferencesTellWhatASessionWasLetRunAt) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    dataset.insert(as_it_was(8, 1210), sample_provenance("s1"));
    MeasurementKey wanted = key(relu(8));
    wanted.found = {1440, 1215, 165};
    EXPECT_FALSE(dataset.contains(wanted));
    ReferenceRow light = sample_reference("2026-01-02T03:04:05.678Z", 1e-5);
    light.asked.sm_clock_mhz = std::nan("");
    light.real.sm_clock_mhz = 1440;
    dataset.insert(light);
    EXPECT_TRUE(dataset.contains(wanted));
}

TEST_F(DatasetTest, LimitsAndMemoryClocksOfSomebodyElseCountAsRead) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    dataset.insert(as_it_was(8, 1440), sample_provenance());
    NetworkMeasurement network = sample_network("resnet18", 8);
    network.real.sm_clock_mhz = 1440;
    network.real.power_limit_w = 165;
    dataset.insert(network, sample_provenance());
    MeasurementKey wanted = key(relu(8));
    wanted.found = {1440, 1215, 165.9};
    EXPECT_TRUE(dataset.contains(wanted));
    EXPECT_TRUE(dataset.contains(network, Method::joulecast, wanted.found));
    wanted.found.power_limit_w = 150;
    EXPECT_FALSE(dataset.contains(wanted));
    EXPECT_FALSE(dataset.contains(network, Method::joulecast, wanted.found));
    wanted.found = {1440, 810, 165};
    EXPECT_FALSE(dataset.contains(wanted));
    // What was asked for is what was held, whatever is found now.
    Measurement held = as_it_was(7, 1200);
    held.asked.sm_clock_mhz = 1200;
    held.asked.power_limit_w = 165;
    dataset.insert(held, sample_provenance());
    wanted = key(relu(7));
    wanted.sm_clock_mhz = 1200;
    wanted.power_limit_w = 165;
    wanted.found = {900, 1215, 100};
    EXPECT_TRUE(dataset.contains(wanted));
}

TEST_F(DatasetTest, CountsRowsOfAGpuThatDoNotTellTheirClockBesideOthers) {
    Dataset dataset(file());
    Device gpu = sample_device();
    gpu.kind = Device::Kind::gpu;
    dataset.insert(gpu);
    dataset.insert(as_it_was(8, std::nan("")), sample_provenance());
    EXPECT_EQ(dataset.rows_without_clock("cpu-test"), 0);  // none tells it: nothing is mixed
    dataset.insert(as_it_was(9, 1440), sample_provenance());
    EXPECT_EQ(dataset.rows_without_clock("cpu-test"), 1);
    Measurement failed = as_it_was(10, std::nan(""));
    failed.outcome = Outcome::crashed;
    dataset.insert(failed, sample_provenance());
    EXPECT_EQ(dataset.rows_without_clock("cpu-test"), 1);
    gpu.kind = Device::Kind::cpu;
    dataset.insert(gpu);
    EXPECT_EQ(dataset.rows_without_clock("cpu-test"), 0);  // a CPU has no such clocks
}

TEST_F(DatasetTest, HoldsHostsThatCannotBeAskedForAnyMore) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    Measurement m = sample_measurement(relu(8));
    m.asked.host = m.real.host = Host::compiled;
    dataset.insert(m, sample_provenance());
    EXPECT_EQ(dataset.operations()[0].measurement.asked.host, Host::compiled);
}

TEST_F(DatasetTest, StoresFailuresAsRows) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    Measurement crashed;
    crashed.operation = relu(8);
    crashed.asked.device = "cpu-test";
    crashed.asked.threads = 2;
    crashed.outcome = Outcome::crashed;
    crashed.message = "signal 9";
    dataset.insert(crashed, sample_provenance());
    EXPECT_TRUE(dataset.contains(key(relu(8))));
    EXPECT_EQ(dataset.operations()[0].measurement.outcome, Outcome::crashed);
    EXPECT_EQ(dataset.operations()[0].measurement.message, "signal 9");
}

TEST_F(DatasetTest, GivesBackEveryNumberOfAReferenceAndMergesIt) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    dataset.insert(sample_reference("2026-01-02T03:04:05.000Z", 0.25));
    dataset.insert(sample_reference("2026-01-02T03:05:05.000Z", 1.5));
    const auto rows = dataset.references("cpu-test");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(text_of(reference_columns(), rows[0]),
              text_of(reference_columns(), sample_reference("2026-01-02T03:04:05.000Z", 0.25)));
    EXPECT_TRUE(rows[1].drifted);
    EXPECT_EQ(rows[0].provenance.session, "s1");
    Dataset other(folder / "b.db");
    EXPECT_EQ(other.merge(dataset), 2);
    EXPECT_EQ(other.merge(dataset), 0);
    EXPECT_THROW(dataset.insert(sample_reference("2026-01-02T03:05:05.000Z", 1.5)), Error);  // the same moment
}

TEST_F(DatasetTest, ReplacesARowByItsRepeatAlsoOfALaterSession) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    const std::int64_t first = dataset.insert(sample_measurement(relu(8)), sample_provenance("s1"));
    Measurement again = sample_measurement(relu(8));
    again.time.mean_s = 2;
    again.block_s = {2};
    const std::int64_t second = dataset.replace(first, again, sample_provenance("s1"));
    ASSERT_EQ(dataset.operations().size(), 1u);
    EXPECT_EQ(dataset.operations()[0].measurement.time.mean_s, 2);
    EXPECT_EQ(dataset.operations({}, true)[0].measurement.block_s.size(), 1u);  // the first one's are gone
    dataset.replace(second, again, sample_provenance("s2"));
    ASSERT_EQ(dataset.operations().size(), 1u);
    EXPECT_EQ(dataset.operations()[0].provenance.session, "s2");
    // One that cannot be stored leaves the row where it was.
    again.time.mean_s = -1;
    EXPECT_THROW(dataset.replace(dataset.operations()[0].id, again, sample_provenance("s2")), Error);
    EXPECT_EQ(dataset.operations().size(), 1u);
}

TEST_F(DatasetTest, AddsRemarksToMessages) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    const std::int64_t id = dataset.insert(sample_measurement(relu(8)), sample_provenance());
    const std::int64_t network = dataset.insert(sample_network("resnet18", 8), sample_provenance());
    dataset.remark_operation(id, "measured while the machine drifted");
    dataset.remark_operation(id, "twice");
    dataset.remark_network(network, "drifted");
    EXPECT_EQ(dataset.operations()[0].measurement.message, "measured while the machine drifted; twice");
    EXPECT_EQ(dataset.networks()[0].measurement.message, "drifted");
}

TEST_F(DatasetTest, RefusesNumbersThatCannotBe) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    Measurement negative = sample_measurement(relu(8));
    negative.hot->p05_s = -1e-9;
    EXPECT_THAT(message_of([&] { dataset.insert(negative, sample_provenance()); }), HasSubstr("hot_p05_s is negative"));
    Measurement missing = sample_measurement(relu(8));
    missing.time.mean_s = std::nan("");
    EXPECT_THAT(message_of([&] { dataset.insert(missing, sample_provenance()); }), HasSubstr("time_mean_s"));
    Measurement infinite = sample_measurement(relu(8));
    infinite.time.p95_s = INFINITY;
    EXPECT_THAT(message_of([&] { dataset.insert(infinite, sample_provenance()); }),
                HasSubstr("time_p95_s is infinite"));
    EXPECT_TRUE(dataset.operations().empty());
}

TEST_F(DatasetTest, RefusesTheSameKeyTwiceInOneSessionAndAnUnknownDevice) {
    Dataset dataset(file());
    EXPECT_THAT(message_of([&] { dataset.insert(sample_measurement(relu(8)), sample_provenance()); }),
                HasSubstr("device 'cpu-test' is not in database"));
    dataset.insert(sample_device());
    dataset.insert(sample_measurement(relu(8)), sample_provenance());
    EXPECT_THAT(message_of([&] { dataset.insert(sample_measurement(relu(8)), sample_provenance()); }),
                HasSubstr("already"));
    dataset.insert(sample_measurement(relu(8)), sample_provenance("s2"));
    EXPECT_EQ(dataset.operations().size(), 2u);
}

TEST_F(DatasetTest, KeepsKnownDeviceFactsThatAreNotKnownNow) {
    Dataset dataset(file());
    Device first = sample_device();
    first.vendor = "amd";
    first.peak_flop_per_s_tf32 = 4e11;
    dataset.insert(first);
    Device again = sample_device();
    again.peak_flop_per_s_fp32 = 3e11;
    again.bandwidth_bytes_per_s = std::nan("");
    dataset.insert(again);
    ASSERT_EQ(dataset.devices().size(), 1u);
    EXPECT_EQ(dataset.devices()[0].peak_flop_per_s_fp32, 3e11);
    EXPECT_EQ(dataset.devices()[0].bandwidth_bytes_per_s, 1e10);
    EXPECT_EQ(dataset.devices()[0].vendor, "amd");
    EXPECT_EQ(dataset.devices()[0].peak_flop_per_s_tf32, 4e11);
}

TEST_F(DatasetTest, MergesWhatIsMissingAndNothingTwice) {
    Dataset one(file());
    one.insert(sample_device());
    one.insert(sample_measurement(relu(1)), sample_provenance("s1"));
    Dataset two(folder / "b.db");
    two.insert(sample_device());
    two.insert(sample_device("cpu-other"));
    two.insert(sample_measurement(relu(1)), sample_provenance("s1"));               // the same
    two.insert(sample_measurement(relu(1)), sample_provenance("s2"));               // another session
    two.insert(sample_measurement(relu(2), "cpu-other"), sample_provenance("s2"));  // another device
    two.insert(sample_network("resnet18", 8), sample_provenance("s2"));
    EXPECT_EQ(one.merge(two), 3);
    EXPECT_EQ(one.merge(two), 0);
    EXPECT_EQ(one.operations().size(), 3u);
    EXPECT_EQ(one.operations("cpu-other", true).at(0).measurement.block_s, sample_measurement(relu(2)).block_s);
    EXPECT_EQ(one.networks().size(), 1u);
    EXPECT_EQ(one.devices().size(), 2u);
}

TEST_F(DatasetTest, GroupsRowsForInfo) {
    Dataset dataset(file());
    dataset.insert(sample_device());
    EXPECT_FALSE(dataset.mean_operation_wall_s("cpu-test").has_value());
    dataset.insert(sample_measurement(relu(1)), sample_provenance("s1"));
    Measurement slow = sample_measurement(relu(2));
    slow.wall_s = 1.0;
    dataset.insert(slow, sample_provenance("s2"));
    const auto groups = dataset.row_groups();
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].kind, "operation");
    EXPECT_EQ(groups[0].rows, 2);
    EXPECT_EQ(groups[0].sessions, 2);
    EXPECT_DOUBLE_EQ(groups[0].wall_s, 1.6);                            // 0.6 + 1.0
    EXPECT_DOUBLE_EQ(*dataset.mean_operation_wall_s("cpu-test"), 0.8);  // 1.6 / 2
}

// "the database is damaged: ..." did not say which of two.
TEST_F(DatasetTest, NamesItsFileWhereARowIsDamaged) {
    {
        Dataset dataset(file());
        dataset.insert(sample_device());
        dataset.insert(sample_measurement(relu(8)), sample_provenance());
    }
    sqlite::Connection(file(), sqlite::Connection::Access::read_write)
        .execute("UPDATE operations SET operation = 'relu('");
    const Dataset dataset(file());
    EXPECT_THAT(message_of([&] { dataset.operations(); }),
                HasSubstr("database '" + file().string() + "' is damaged: operation of row 1 "));
}

TEST_F(DatasetTest, RefusesFilesThatAreNoneOfOurs) {
    EXPECT_THAT(message_of([&] { Dataset(folder / "none.db", Dataset::Access::read_only); }),
                HasSubstr("there is no database"));
    std::ofstream(folder / "text.db") << std::string(5000, 'x');
    EXPECT_THAT(message_of([&] { Dataset(folder / "text.db"); }), HasSubstr("is not a database"));
    EXPECT_THAT(message_of([&] { Dataset(folder / "missing" / "x.db"); }), HasSubstr("cannot open database"));
    {
        sqlite::Connection foreign(folder / "foreign.db", sqlite::Connection::Access::read_write);
        foreign.execute("CREATE TABLE t (x)");
    }
    EXPECT_THAT(message_of([&] { Dataset(folder / "foreign.db"); }), HasSubstr("not one of joulecast's"));
}

TEST_F(DatasetTest, ReadsAWriteProtectedFileInAWriteProtectedFolder) {
    {
        Dataset dataset(file());
        dataset.insert(sample_device());
        dataset.insert(sample_measurement(relu(1)), sample_provenance());
    }
    using std::filesystem::perms;
    std::filesystem::permissions(file(), perms::owner_read);
    std::filesystem::permissions(folder, perms::owner_read | perms::owner_exec);
    EXPECT_EQ(Dataset(file(), Dataset::Access::read_only).operations().size(), 1u);
    std::filesystem::permissions(folder, perms::owner_all);
}

TEST_F(DatasetTest, WaitsForAnotherWriterAndSeesItsRows) {
    Dataset one(file());
    Dataset two(file());
    one.insert(sample_device());
    two.insert(sample_measurement(relu(1)), sample_provenance("s1"));
    one.insert(sample_measurement(relu(2)), sample_provenance("s2"));
    EXPECT_EQ(one.operations().size(), 2u);
    EXPECT_EQ(two.operations().size(), 2u);
}

TEST_F(DatasetTest, ManyProgramsMayCreateAndFillOneFileAtOnce) {
    constexpr int programs = 4, rows_each = 10;
    std::vector<pid_t> children;
    for (int program = 0; program < programs; ++program) {
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                Dataset dataset(file());
                dataset.insert(sample_device());
                for (int i = 0; i < rows_each; ++i)
                    dataset.insert(sample_measurement(relu(1 + i)), sample_provenance("s" + std::to_string(program)));
                ::_exit(0);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "%s\n", error.what());
                ::_exit(1);
            }
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(Dataset(file()).operations().size(), std::size_t{programs * rows_each});
}

TEST_F(DatasetTest, SaysThatItCannotWriteAndKeepsEveryCommittedRow) {
    const std::filesystem::path counter = folder / "committed";
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        // A file size limit stands in for a full disk (EFBIG in place of ENOSPC, whose message schema_test has).
        const rlimit limit{300'000, 300'000};
        int committed = 0;
        try {
            Dataset dataset(file());
            dataset.insert(sample_device());
            ::setrlimit(RLIMIT_FSIZE, &limit);
            for (;; ++committed) dataset.insert(sample_measurement(relu(1 + committed)), sample_provenance());
        } catch (const Error& error) {
            std::ofstream(counter) << committed << " " << error.what();
            ::_exit(0);
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    int committed = 0;
    std::ifstream said(counter);
    said >> committed;
    std::string message;
    std::getline(said, message);
    EXPECT_THAT(
        message,
        HasSubstr("any further (a quota, a file size limit, or a failing disk). All rows committed so far are kept"));
    EXPECT_GT(committed, 0);
    EXPECT_EQ(Dataset(file()).operations({}, true).size(), static_cast<std::size_t>(committed));
}

TEST_F(DatasetTest, KeepsEveryRowWhoseInsertReturnedWhenItIsKilled) {
    for (int round = 0; round < 5; ++round) {
        int pipe_ends[2];
        ASSERT_EQ(::pipe(pipe_ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            Dataset dataset(file());
            dataset.insert(sample_device());
            for (int i = 0;; ++i) {
                dataset.insert(sample_measurement(relu(1 + i)), sample_provenance("round" + std::to_string(round)));
                if (::write(pipe_ends[1], "x", 1) != 1) ::_exit(1);
            }
        }
        ::close(pipe_ends[1]);
        char byte = 0;
        std::size_t committed = 0;
        while (committed < static_cast<std::size_t>(3 + 4 * round) && ::read(pipe_ends[0], &byte, 1) == 1) ++committed;
        ::kill(child, SIGKILL);
        while (::read(pipe_ends[0], &byte, 1) == 1) ++committed;  // said before it died
        ::close(pipe_ends[0]);
        ::waitpid(child, nullptr, 0);
        std::set<std::string> kept;
        std::size_t rows = 0;
        for (const OperationRow& row : Dataset(file()).operations({}, true))
            if (row.provenance.session == "round" + std::to_string(round)) {
                kept.insert(signature(row.measurement.operation));
                ++rows;
                EXPECT_EQ(row.measurement.block_s.size(), 3u);
            }
        // One more may be in: committed, but killed before it could say so.
        EXPECT_GE(rows, committed);
        EXPECT_LE(rows, committed + 1);
        EXPECT_EQ(kept.size(), rows);
    }
}

}  // namespace
}  // namespace joulecast
