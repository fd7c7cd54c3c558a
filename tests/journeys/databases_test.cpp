// Ways of a user among several databases: parts of one sweep, and files of older releases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/dataset/sqlite.h"
#include "tests/journeys/pretended.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;

double forecast_s(const std::string& arguments) {
    const Ran ran = run_joulecast("predict " + arguments + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return nlohmann::json::parse(ran.out).at("predictions").at(0).at("time_s").at("value");
}

TEST(JourneyOfDatabases, ShardsMergedAreTheWhole) {
    const TemporaryFolder folder;
    const std::string sweep = "resnet18 mobilenet_v2 alexnet --set batch=8" + on("pretend-a", "--truth");
    const std::string whole = folder.file("whole.db"), merged = folder.file("merged.db");
    profiled(sweep + "--db " + whole);
    std::string parts;
    for (const std::string part : {"1", "2", "3"}) {
        profiled(sweep + "--shard " + part + "/3 --db " + folder.file(part + ".db"));
        parts += folder.file(part + ".db") + " ";
    }
    ASSERT_EQ(run_joulecast("merge " + parts + "--into " + merged).status, 0);

    const Ran ran = run_joulecast("diff " + whole + " " + merged + " --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto difference = nlohmann::json::parse(ran.out);
    EXPECT_EQ(difference.at("shared"), 113);
    EXPECT_EQ(difference.at("only_before"), 0);
    EXPECT_EQ(difference.at("only_after"), 0);
    for (const auto& row : difference.at("measurements"))
        EXPECT_NEAR(row.at("difference").get<double>(), 0, 1e-9) << row.at("what");

    // Each part repeats some operations on its own: the trees see these twice, and differ in that.
    trained(whole, folder.file("whole.jcp"));
    trained(merged, folder.file("merged.jcp"));
    const std::string resnet50 = "resnet50 --set batch=8 --device pretend-a --predictor ";
    EXPECT_NEAR(
        std::log(forecast_s(resnet50 + folder.file("merged.jcp")) / forecast_s(resnet50 + folder.file("whole.jcp"))), 0,
        0.04);  // 0.015
}

class OldDatabase : public ::testing::TestWithParam<int> {};

// It said that the database had no usable operation.
TEST(JourneyOfDatabases, NetworksAloneAreScoredOnACardThatAPredictorNeverSaw) {
    const TemporaryFolder folder;
    const std::string database = folder.file("m.db");
    profiled("resnet18 vgg11 --set batch=8 --networks --no-operations --clocks 900,1500 --db " + database +
             on("pretend-a"));
    const Ran ran = run_joulecast("validate --format json --db " + database + " --predictor " + JOULECAST_SOURCE_DIR +
                                  "/predictors/nvidia.jcp");
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, ::testing::HasSubstr("pretend-a has no model of its own"));
    const nlohmann::json networks = nlohmann::json::parse(ran.out).at("networks");
    ASSERT_EQ(networks.size(), 4U);
    for (const nlohmann::json& network : networks) {
        EXPECT_LT(network.at("predicted_low_s"), network.at("predicted_time_s")) << network;
        EXPECT_LT(std::abs(network.at("error").get<double>()), 0.9) << network;
    }
}

TEST_P(OldDatabase, IsMeasuredInto) {
    const TemporaryFolder folder;
    const std::string db = folder.file("old.db"), predictor = folder.file("p.jcp");
    sqlite::Connection(db, sqlite::Connection::Access::read_write)
        .execute(read_file(JOULECAST_SOURCE_DIR "/tests/dataset/data/version_" + std::to_string(GetParam()) + ".sql"));
    // As it is, and with a card in it that its release knew nothing of.
    trained(db, predictor);
    const std::string old_device = "alexnet --device cpu-test --predictor " + predictor;
    const double before_s = forecast_s(old_device);
    EXPECT_GT(before_s, 0);
    profiled(known_networks + " --db " + db + on("pretend-a"));
    trained(db, predictor);
    EXPECT_NEAR(forecast_s(old_device) / before_s, 1, 1e-6) << "another device has changed this one's forecast";
    const std::string truth = folder.file("truth.db");
    profiled(unseen_networks + " --db " + truth + on("pretend-a", "--truth"));
    const Score score = scored(predictor, truth);
    EXPECT_LT(score.time, 0.034) << score;     // 0.010 to 0.015, as in a new database
    EXPECT_LT(score.energy, 0.0374) << score;  // 0.014 to 0.017
}

INSTANTIATE_TEST_SUITE_P(OfRelease, OldDatabase, ::testing::Values(1, 8));

}  // namespace
}  // namespace joulecast
