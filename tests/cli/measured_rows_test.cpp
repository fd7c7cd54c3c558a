#include "cli/measured_rows.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "joulecast/units/time_stamp.h"
#include "tests/cli/run_command.h"

namespace joulecast::cli {
namespace {

using namespace joulecast::testing;

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

}  // namespace
}  // namespace joulecast::cli
