#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

const std::string measurements = JOULECAST_SOURCE_DIR "/datasets/cpu-amd-epyc-2c.csv";

/// What a newcomer does with the measurements that come with the source: from CSV to a forecast and its check.
TEST(Pipeline, LeadsFromMeasurementsToCheckedForecasts) {
    const TemporaryFolder folder;
    const std::string database = folder.file("own.db");
    const std::string predictor = folder.file("own.jcp");
    ASSERT_EQ(run_joulecast("import csv " + measurements + " --db " + database).status, 0);
    const auto trained = run_joulecast("train --db " + database + " -o " + predictor);
    ASSERT_EQ(trained.status, 0) << trained.err;

    const auto predicted = run_joulecast("predict resnet50 --device cpu-amd-epyc-2c --set batch=8 --format json " +
                                         ("--predictor " + predictor));
    ASSERT_EQ(predicted.status, 0) << predicted.err;
    const auto forecast = nlohmann::json::parse(predicted.out)["predictions"][0];
    const double value = forecast["time_s"]["value"];
    EXPECT_LT(forecast["time_s"]["low"], value);
    EXPECT_GT(forecast["time_s"]["high"], value);
    EXPECT_TRUE(forecast["energy_j"]["value"].is_null()) << "no power was ever measured on that machine";
    EXPECT_EQ(forecast["unknown_nodes"], 0);
    // The network was measured on the same machine, and its operations are in training: 206 ms in the CSV.
    EXPECT_NEAR(std::log(value / 0.206), 0.0, std::log(1.25));

    const auto scored = run_joulecast("validate --db " + database + " --predictor " + predictor + " --format json");
    ASSERT_EQ(scored.status, 0) << scored.err;
    const auto all = nlohmann::json::parse(scored.out)["network_summary"].back();
    EXPECT_EQ(all["networks"], 48);
    EXPECT_LT(all["summed_time_median_ape"], 0.08) << "the sum of measured operations against measured networks";
}

TEST(Pipeline, TrainsTheSamePredictorTwice) {
    const TemporaryFolder folder;
    const std::string database = folder.file("own.db");
    ASSERT_EQ(run_joulecast("import csv " + measurements + " --db " + database).status, 0);
    std::string first;
    for (const std::string name : {"a.jcp", "b.jcp"}) {
        ASSERT_EQ(run_joulecast("train --db " + database + " -o " + folder.file(name)).status, 0);
        const auto ran =
            run_joulecast("predict gpt2 --device cpu-amd-epyc-2c --format csv --predictor " + folder.file(name));
        const std::string forecast = ran.out.substr(0, ran.out.rfind(name));
        if (first.empty()) first = forecast;
        EXPECT_EQ(forecast, first);
    }
}

}  // namespace
}  // namespace joulecast::testing
