#include "cli/network_sentence.h"

#include <gtest/gtest.h>

namespace joulecast::cli {
namespace {

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

}  // namespace
}  // namespace joulecast::cli
