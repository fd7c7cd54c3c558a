#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "joulecast/device/device_table.h"
#include "joulecast/physics/clock_curve.h"
#include "tests/cli/run_command.h"
#include "tests/cli/suite_folder.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

/// Workloads that nobody has a graph of, on a card that does exactly what the forms tell but for its memory, which is
/// busy at 0.8 when it can move no more.
class ValidateClocks : public SuiteFolder<ValidateClocks> {
  public:
    static void set_up_files() {
        const ClockParameters card = default_clock_parameters(find_device("v100-16g-pcie"));
        std::ofstream told(file("told.csv")), untold(file("untold.csv"));
        told << "device,workload,sm_mhz,time_s,power_w,memory_active\n";
        untold << "device,workload,sm_mhz,time_s,power_w\n";
        for (int i = 0; i < 12; ++i) {
            const double moving = i / 11.0;
            const WorkloadCurve curve(card, {of_compute_share(1 - moving * moving * moving)}, 0, {1, 1, 0.1, 180});
            for (int mhz = 510; mhz <= 1380; mhz += 145) {
                const double x = mhz / 1380.0;
                const std::string row = "v100,work" + std::to_string(i) + "," + std::to_string(mhz) + "," +
                                        std::to_string(curve.time_s(x)) + "," + std::to_string(curve.power_w(x));
                told << row << "," << 0.8 * moving << "\n";
                untold << row << "\n";
            }
        }
    }

    static Json validated(const std::string& table) {
        const std::string database = file(table + ".db");
        EXPECT_EQ(run_joulecast("import sweep " + file(table + ".csv") + " --db " + database).status, 0);
        const auto ran = run_joulecast("validate --db " + database + " --split clock --folds 4 --format json");
        EXPECT_EQ(ran.status, 0) << ran.err;
        return Json::parse(ran.out);
    }

    static double error_of(const Json& answer, const std::string& metric) {
        for (const Json& line : answer["operations"])
            if (line["model"] == "joulecast" && line["metric"] == metric && line["family"] == "all")
                return line["mape"];
        return std::nan("");
    }
};

TEST_F(ValidateClocks, ActivityOfTheMemoryTellsTheCurve) {
    const Json told = validated("told");
    const Json untold = validated("untold");
    EXPECT_LT(error_of(told, "time_s"), 0.02);
    EXPECT_GT(error_of(untold, "time_s"), 3 * error_of(told, "time_s"));  // all draw the same power
    EXPECT_LT(error_of(told, "energy_j"), 0.02);
}

TEST_F(ValidateClocks, ChancesStandBesideWhatCameOfThem) {
    const Json answer = validated("told");
    ASSERT_EQ(answer["chances"].size(), 2U);
    for (const Json& line : answer["chances"]) {
        EXPECT_EQ(line["device"], "v100-16g-pcie");
        EXPECT_EQ(line["workloads"], 12);
        // Nothing is noisy here: choices are as good as they are said to be.
        EXPECT_GT(line["was_within_1_percent"].get<double>(), 0.9) << line;
        EXPECT_GT(line["said_within_1_percent"].get<double>(), 0.5) << line;
        EXPECT_LE(line["was_within_1_percent_low"], line["was_within_1_percent"]);
        EXPECT_GE(line["was_within_1_percent_high"], line["was_within_1_percent"]);
        EXPECT_LT(line["was_excess"].get<double>(), 0.005) << line;
    }
    const auto text = run_joulecast("validate --db " + file("told.db") + " --split clock --folds 4").out;
    EXPECT_THAT(text, HasSubstr("said within 1 %"));
}

}  // namespace
}  // namespace joulecast::testing
