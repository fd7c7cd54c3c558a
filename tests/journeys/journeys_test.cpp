// From measurements of some networks to forecasts of others, held to what the pretended card truly takes.
// Every bound is the largest error seen in five runs on 2026-11-23, and about a third more; what was seen stands beside
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/journeys/pretended.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;

/// A journey's files.
class Journey : public ::testing::Test {
  protected:
    std::string database() const { return folder_.file("measured.db"); }
    std::string truth() const { return folder_.file("truth.db"); }
    std::string predictor() const { return folder_.file("p.jcp"); }

    void measure(const std::string& what, const std::string& device, const std::string& options = "--seed 1") const {
        profiled(what + " --db " + database() + on(device, options));
    }
    void ask_for_the_truth(const std::string& what, const std::string& device) const {
        profiled(what + " --db " + truth() + on(device, "--truth"));
    }
    Score forecasts_against_truth() const {
        trained(database(), predictor());
        return scored(predictor(), truth());
    }

  private:
    TemporaryFolder folder_;
};

TEST_F(Journey, AtTheClockThatTheCardComesWith) {
    measure(known_networks, "pretend-a");
    ask_for_the_truth(unseen_networks, "pretend-a");
    const Score score = forecasts_against_truth();
    EXPECT_EQ(score.networks, 3);
    EXPECT_LT(score.time, 0.034) << score;     // 0.007 to 0.014
    EXPECT_LT(score.power, 0.0408) << score;   // 0.015 to 0.018
    EXPECT_LT(score.energy, 0.0374) << score;  // 0.014 to 0.017
    EXPECT_GE(score.inside, 0.3) << score;     // 0.67 to 1
}

TEST_F(Journey, BetweenSeveralClocks) {
    measure(known_networks + " --clocks 600,900,1200,1500", "pretend-a");
    ask_for_the_truth(unseen_networks + " --clocks 750,1050,1350", "pretend-a");
    const Score score = forecasts_against_truth();
    EXPECT_EQ(score.networks, 9);
    EXPECT_LT(score.time, 0.0595) << score;    // 0.023 to 0.027
    EXPECT_LT(score.power, 0.0408) << score;   // 0.018
    EXPECT_LT(score.energy, 0.0527) << score;  // 0.021 to 0.024
    EXPECT_GE(score.inside, 0.5) << score;     // 1
}

/// 90 % intervals of what a network takes at one clock over another: of ratios that no network was measured for.
TEST_F(Journey, RatiosOverTheClocks) {
    measure("resnet18 mobilenet_v2 vgg11 densenet121 vit_b_32 --set batch=8 --clocks 600,900,1200,1500", "pretend-a");
    ask_for_the_truth(
        "resnet50 efficientnet_b0 resnet34 mobilenet_v3_large --set batch=8 --networks --no-operations "
        "--clocks 650,850,1000,1250,1450",
        "pretend-a");
    trained(database(), predictor());
    const Ran ran = run_joulecast("validate --predictor " + predictor() + " --db " + truth() + " --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    ASSERT_EQ(answer.at("ratios").size(), 4 * 4U);  // networks, clocks below the highest
    for (const auto& one : answer.at("ratio_summary")) {
        EXPECT_EQ(one.at("ratios"), 4 * 4);
        EXPECT_GE(one.at("interval_coverage"), 0.8) << one;  // 1
        EXPECT_LT(one.at("mape"), 0.02) << one;              // 0.006 to 0.007
        // Wide for this card, whose ratios come out nearer than those of others: docs/results.md.
        EXPECT_LT(one.at("interval_width"), 0.14) << one;  // 0.10 to 0.12
    }
    // Narrower than the interval of the time itself.
    const auto& ratio = answer.at("ratios").at(0);
    const auto& network = answer.at("networks").at(0);
    EXPECT_LT(ratio.at("predicted_time_high").get<double>() / ratio.at("predicted_time_low").get<double>(),
              network.at("predicted_high_s").get<double>() / network.at("predicted_low_s").get<double>());
}

TEST_F(Journey, WithOtherClocksForOtherNetworks) {
    const std::string some = "resnet18 mobilenet_v2 --set batch=8 --networks";
    const std::string others = "vgg11 densenet121 vit_b_32 --set batch=8 --networks";
    measure(some + " --clocks 600,1200", "pretend-a", "--seed 1");
    measure(others + " --clocks 900,1500", "pretend-a", "--seed 2");
    ask_for_the_truth(unseen_networks + " --clocks 750,1050,1350", "pretend-a");
    const Score score = forecasts_against_truth();
    EXPECT_EQ(score.networks, 9);
    EXPECT_LT(score.time, 0.0816) << score;   // 0.021 to 0.037
    EXPECT_LT(score.power, 0.0374) << score;  // 0.012 to 0.017
    EXPECT_LT(score.energy, 0.068) << score;  // 0.014 to 0.031
    EXPECT_GE(score.inside, 0.3) << score;    // 0.78 to 1
}

TEST_F(Journey, BetweenPowerLimits) {
    measure(known_networks + " --power-limits 200,300,400,600", "pretend-c");
    ask_for_the_truth(unseen_networks + " --power-limits 250,350,500", "pretend-c");
    const Score score = forecasts_against_truth();
    EXPECT_EQ(score.networks, 9);
    EXPECT_LT(score.time, 0.085) << score;     // 0.038
    EXPECT_LT(score.power, 0.011) << score;    // 0.005
    EXPECT_LT(score.energy, 0.0867) << score;  // 0.037 to 0.039
    EXPECT_GE(score.inside, 0.3) << score;     // 0.67
}

TEST_F(Journey, OfTrainingWithAnOptimizer) {
    measure(known_networks + " --mode inference,training --optimizer adam", "pretend-a");
    ask_for_the_truth(unseen_networks + " --mode training --optimizer adam", "pretend-a");
    const Score score = forecasts_against_truth();
    EXPECT_EQ(score.networks, 3);
    // The largest is of efficientnet_b0, why is not known: the sum of its measured operations is as short.
    EXPECT_LT(score.time, 0.06) << score;     // 0.045, 0.081 of efficientnet_b0
    EXPECT_LT(score.power, 0.0221) << score;  // 0.005
    EXPECT_LT(score.energy, 0.062) << score;  // 0.047
    EXPECT_GE(score.inside, 0.3) << score;    // 0.67
}

TEST_F(Journey, OverPrecisions) {
    const std::string precisions = " --precision fp32,tf32,bf16";
    measure(known_networks + precisions, "pretend-a");
    ask_for_the_truth(unseen_networks + precisions, "pretend-a");
    const Score score = forecasts_against_truth();
    EXPECT_EQ(score.networks, 9);
    EXPECT_LT(score.time, 0.0986) << score;    // 0.045
    EXPECT_LT(score.power, 0.0782) << score;   // 0.036
    EXPECT_LT(score.energy, 0.0782) << score;  // 0.035
    EXPECT_GE(score.inside, 0.5) << score;     // 1
}

TEST_F(Journey, OfTwoCardsInOneDatabase) {
    for (const std::string card : {"pretend-a", "pretend-c"}) {
        measure(known_networks, card);
        ask_for_the_truth(unseen_networks, card);
    }
    trained(database(), predictor());
    for (const std::string card : {"pretend-a", "pretend-c"}) {
        const Score score = scored(predictor(), truth(), card);
        EXPECT_EQ(score.networks, 3);
        EXPECT_LT(score.time, 0.0986) << card << ", " << score;   // 0.006 to 0.012, and 0.044
        EXPECT_LT(score.power, 0.0493) << card << ", " << score;  // 0.018 and 0.022
        EXPECT_LT(score.energy, 0.051) << card << ", " << score;  // 0.018 and 0.023
    }
}

TEST_F(Journey, OfAGpuBesideACpu) {
    for (const std::string device : {"pretend-a", "pretend-cpu"}) {
        measure(known_networks, device);
        ask_for_the_truth("resnet50 resnet34 --set batch=8 --networks --no-operations", device);
    }
    trained(database(), predictor());
    for (const std::string device : {"pretend-a", "pretend-cpu"}) {
        const Score score = scored(predictor(), truth(), device);
        EXPECT_EQ(score.networks, 2);
        EXPECT_LT(score.time, 0.134) << device << ", " << score;     // 0.011, and 0.048 to 0.061
        EXPECT_LT(score.power, 0.116) << device << ", " << score;    // 0.007 and 0.052
        EXPECT_LT(score.energy, 0.0493) << device << ", " << score;  // 0.017 and 0.022
    }
}

/// The machine computes at half of its pace when the forecast is asked for.
TEST_F(Journey, OfACpuWhosePaceHasChanged) {
    profiled(known_networks + " --budget 2m --db " + database() + on("pretend-cpu"));
    trained(database(), predictor());
    const TemporaryFolder folder;
    const std::string laws = folder.file("slow.json");
    std::ofstream(laws) << R"({"schema": "joulecast.pretend/1", "cards": [{"id": "pretend-cpu",
        "based_on": "pretend-cpu", "matrix_share": 0.425, "convolution_share": 0.31, "bandwidth_share": 0.37}]})";
    const std::string slow = "--truth --laws " + laws;
    profiled("resnet50 resnet34 --set batch=8 --networks --no-operations --db " + truth() + on("pretend-cpu", slow));

    const std::string ask =
        "predict resnet50 resnet34 --set batch=8 --host cpp --device pretend-cpu --format json "
        "--predictor " +
        predictor();
    const Ran usual = run_joulecast(ask);
    const Ran now = run_joulecast(ask + " --pace now" + asking("--device pretend-cpu " + slow));
    ASSERT_EQ(usual.status, 0) << usual.err;
    ASSERT_EQ(now.status, 0) << now.err;
    EXPECT_THAT(now.err, ::testing::HasSubstr("more time now than when it was measured"));
    const auto before = nlohmann::json::parse(usual.out).at("predictions");
    const auto after = nlohmann::json::parse(now.out).at("predictions");
    for (std::size_t i = 0; i < 2; ++i) {
        const auto of = [i](const auto& all, const char* key, const char* what) -> double {
            return all.at(i).at(key).at(what);
        };
        const double slower = of(after, "time_s", "value") / of(before, "time_s", "value");
        EXPECT_NEAR(slower, 2, 0.1);
        EXPECT_NEAR(of(after, "time_s", "high") / of(before, "time_s", "high"), slower, 1e-6);
        EXPECT_NEAR(of(after, "energy_j", "value") / of(before, "energy_j", "value"), slower, 0.01 * slower);
    }
    EXPECT_GT(scored(predictor(), truth()).time, 0.4) << "the truth has not become slower";

    const Ran other = run_joulecast(ask + " --pace now" + asking("--truth"));
    EXPECT_EQ(other.status, 1);
    EXPECT_THAT(other.err, ::testing::HasSubstr("the worker measures pretend-a"));
}

/// Of a card that was asked for nothing but its probes; the predictor knows two others.
TEST_F(Journey, OfACardThatIsKnownByItsProbesAlone) {
    measure(known_networks, "pretend-a");
    measure(known_networks, "pretend-c");
    trained(database(), predictor());
    const TemporaryFolder folder;
    const std::string probes = folder.file("probe.db");
    profiled("--probe --db " + probes + on("pretend-b"));
    ask_for_the_truth(unseen_networks, "pretend-b");

    double off = 0;
    for (const auto& [network, true_s] :
         {std::pair{"resnet50", 0.01195}, {"efficientnet_b0", 0.004024}, {"resnet34", 0.008818}}) {
        const Ran ran =
            run_joulecast(std::string("predict ") + network + " --set batch=8 --device pretend-b --predictor " +
                          predictor() + " --db " + probes + " --format json");
        ASSERT_EQ(ran.status, 0) << ran.err;
        EXPECT_THAT(ran.err, ::testing::HasSubstr("pretend-b: forecast from its data sheet"));
        const auto forecast = nlohmann::json::parse(ran.out).at("predictions").at(0);
        EXPECT_GT(forecast.at("evidence_share").at("extrapolated"), 0.5);
        off += std::abs(forecast.at("time_s").at("value").get<double>() / true_s - 1) / 3;
    }
    EXPECT_LT(off, 0.23);  // 0.134
}

}  // namespace
}  // namespace joulecast
