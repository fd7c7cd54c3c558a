#include "cli/measured_rows.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/dataset/sqlite.h"
#include "joulecast/units/time_stamp.h"
#include "tests/cli/run_command.h"
#include "tests/train/synthetic.h"

namespace joulecast::cli {
namespace {

using namespace joulecast::testing;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double start_s = 1'700'000'000;

Operation relu() {
    TensorType type;
    type.sizes = {64, 64};
    return {"aten::relu", {{"self", type}}};
}

/// One operation of 1 s measured after 75 s, beside twenty repeats of a reference, five seconds apart: the first ten
/// take `quick_s`, the others a fifth longer.
Dataset database(const std::string& file, double quick_s) {
    Dataset dataset(file);
    Device device;
    device.id = "cpu-test";
    device.peak_flop_per_s_fp32 = 1e11;
    device.bandwidth_bytes_per_s = 1e10;
    dataset.insert(device);
    Provenance provenance;
    provenance.session = "s1";
    provenance.settings = R"({"threads":2})";
    Measurement measured;
    measured.operation = relu();
    measured.asked.device = measured.real.device = device.id;
    measured.asked.threads = measured.real.threads = 2;
    measured.time.mean_s = measured.time.median_s = 1;
    measured.started_at = utc_time_stamp(start_s + 75);
    dataset.insert(measured, provenance);
    for (int i = 0; i < 20; ++i) {
        ReferenceRow row;
        row.operation = signature(relu());
        row.asked = measured.asked;
        row.real = measured.asked;
        row.started_at = utc_time_stamp(start_s + 5 * i);
        row.time_mean_s = i < 10 ? quick_s : 1.2 * quick_s;
        row.time_half_width_s = 1e-6;
        row.provenance = provenance;
        dataset.insert(row);
    }
    return dataset;
}

TEST(MeasuredRows, ArePutToOnePace) {
    const TemporaryFolder folder;
    const Dataset dataset = database(folder.file("a.db"), 2);
    // The usual repeat takes 2.2 s, those beside the operation 2.4 s: 1.09; single steps count as noise, a little.
    const auto rows = measured_rows(dataset, {});
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_NEAR(rows[0].operations.at(0).time_s, 1 / 1.09, 0.02);
    EXPECT_NEAR(rows[0].rows.at(0).measurement.time.median_s, 1 / 1.09, 0.02);
}

TEST(MeasuredRows, ArePutToThePaceOfAnotherDatabaseOnDemand) {
    const TemporaryFolder folder;
    const Dataset slow = database(folder.file("slow.db"), 4);
    const Dataset usual = database(folder.file("usual.db"), 2);
    // 4.8 s where 2.2 s are usual
    const auto settings = [&](const std::string&) { return std::vector{slow.operations().at(0).measurement.real}; };
    ::testing::internal::CaptureStderr();
    const auto rows = measured_rows(slow, {}, settings, &usual);
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_NEAR(rows.at(0).operations.at(0).time_s, 2.2 / 4.8, 0.02);
    EXPECT_NE(told.find("cpu-test took "), std::string::npos) << told;
    EXPECT_NE(told.find(" % more time than when the other database was measured"), std::string::npos) << told;
}

// A database that an earlier version wrote, or somebody's hand: its rows of 1e308 s were left out without a word, and
// one such repeat of the reference left no operation of its session usable.
TEST(MeasuredRows, ThatCannotBeRightAreNamedAndLeftOutByEveryVerb) {
    const TemporaryFolder folder;
    const std::string db = folder.file("a.db"), jcp = folder.file("p.jcp");
    {
        Dataset dataset(db);
        insert_synthetic(dataset, {synthetic_graph("resnet18", 2)});
        const OperationRow row = dataset.operations().front();
        for (int i = 0; i < 4; ++i) {
            ReferenceRow repeat;
            repeat.operation = signature(row.measurement.operation);
            repeat.asked = row.measurement.asked;
            repeat.real = row.measurement.real;
            repeat.started_at = utc_time_stamp(start_s + i);
            repeat.time_mean_s = 1e-3;
            repeat.provenance = row.provenance;
            dataset.insert(repeat);
        }
    }
    sqlite::Connection(db, sqlite::Connection::Access::read_write)
        .execute(
            "UPDATE operations SET time_mean_s = 1e308 WHERE id = 2; UPDATE networks SET time_mean_s = 1e308;"
            "UPDATE reference_runs SET time_mean_s = 1e308 WHERE id = 3");
    const std::string model = "resnet18 --set batch=2 --device cpu-synthetic --predictor " + jcp;
    for (const std::string& words :
         {"train --db " + db + " -o " + jcp, "validate --split operation --db " + db,
          "predict " + model + " --db " + db, "report --db " + db + " -o " + folder.file("a.html"),
          "report " + model + " --db " + db + " -o " + folder.file("b.html"), "export --db " + db}) {
        const Ran ran = run_joulecast(words);
        EXPECT_TRUE(ran.status == 0 || ran.status == 3) << words << "\n" << ran.err;
        EXPECT_THAT(ran.err,
                    HasSubstr("joulecast: operation 2 of the database cannot be right, and nothing learns from it ("))
            << words;
        EXPECT_THAT(ran.err, HasSubstr("): time is 1e+308 s, not from 1 ns to a day")) << words;
        EXPECT_THAT(ran.err, Not(HasSubstr("terminate"))) << words;
    }
    EXPECT_THAT(read_file(folder.file("a.html")), Not(HasSubstr("e+30")));
}

}  // namespace
}  // namespace joulecast::cli
