#include "cli/network_sentence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::cli {
namespace {

using ::testing::HasSubstr;

NetworkAccuracy network(double measured_s, double forecast_s, bool inside) {
    NetworkAccuracy accuracy;
    accuracy.measured_time_s = measured_s;
    accuracy.predicted_time = {Seconds(forecast_s), Seconds(0.8 * forecast_s), Seconds(1.2 * forecast_s)};
    accuracy.inside_interval = inside;
    return accuracy;
}

TEST(NetworkSentence, TellsErrorIntervalsAndHowManyTheyHold) {
    // 10 % too long and 30 % too short: 20 % on average, whatever the sign
    const std::vector<NetworkAccuracy> networks{network(1, 1.1, true), network(1, 0.7, false)};
    EXPECT_EQ(
        network_sentence(networks, true),
        "Networks that were not in the training: mean error of time 20 %; 1 of 2 inside the 90 % interval (median "
        "interval -20 % to +20 %, its ends a factor of 1.50 apart).\n");
    EXPECT_EQ(network_sentence({networks.data(), 1}, false).substr(0, 38), "These networks: mean error of time 10 ");
}

TEST(NetworkSentence, SaysNothingWithoutNetworks) {
    EXPECT_EQ(network_sentence({}, true), "");
}

TEST(Verdict, SaysHowGoodWhatDisturbedAndWhatToDo) {
    const std::vector<NetworkAccuracy> good{network(1, 1.04, true), network(1, 0.98, true)};  // 4 % and 2 % off
    EXPECT_EQ(verdict(good, 1.06),
              "Verdict: forecasts of time are 3 % off on average; nothing disturbed the machine while it was measured "
              "(its pace kept within 6 %). They can be used as they are.\n");
    EXPECT_EQ(verdict(good, 1.21),
              "Verdict: forecasts of time are 3 % off on average; the machine's pace ranged over 21 % while it was "
              "measured: something else ran, or heat slowed it. They can be used as they are.\n");
    // Good by chance: the next measurement may be anywhere within the range.
    EXPECT_EQ(
        verdict(good, 1.4),
        "Verdict: forecasts of time are 3 % off on average; the machine's pace ranged over 40 % while it was "
        "measured: something else ran, or heat slowed it. Measure again while nothing else runs; joulecast doctor "
        "says what disturbs.\n");
    EXPECT_THAT(verdict(good, std::nan("")), HasSubstr("; how steady the machine was is not known. They can be used"));
}

TEST(Verdict, AsksForMoreWhereErrorsAreLargeOrIntervalsDoNotHold) {
    const std::vector<NetworkAccuracy> large{network(1, 1.2, true), network(1, 0.8, true)};
    EXPECT_THAT(verdict(large, 1.05), HasSubstr("20 % off"));
    EXPECT_THAT(verdict(large, 1.05),
                HasSubstr("0 of 2 outside their 90 % intervals: too few networks to tell whether these hold. Measure "
                          "more: joulecast profile"));
    EXPECT_THAT(verdict(std::vector(10, large.front()), 1.05), HasSubstr("too few networks to tell"));
    EXPECT_THAT(verdict(std::vector(11, large.front()), 1.05),
                HasSubstr("Their intervals hold; for smaller errors measure more: "));
    // Two of two outside: by intervals that hold 90 % that comes to pass once in a hundred.
    const std::vector<NetworkAccuracy> wrong{network(1, 1.01, false), network(1, 1.02, false)};
    EXPECT_THAT(verdict(wrong, 1.05), HasSubstr("Trust neither them nor their intervals yet"));
    // One of two: once in five.
    const std::vector<NetworkAccuracy> half{network(1, 1.01, false), network(1, 1.02, true)};
    EXPECT_THAT(verdict(half, 1.05), HasSubstr("They can be used as they are."));
    EXPECT_EQ(verdict({}, 1.05), "");
}

}  // namespace
}  // namespace joulecast::cli
