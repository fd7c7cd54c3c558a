#include "cli/forecast_words.h"

#include <gtest/gtest.h>

namespace joulecast::cli {
namespace {

TEST(ForecastWords, PowerIsSpokenOfWhereTheDataSheetAloneGivesIt) {
    NetworkForecast network;
    EXPECT_EQ(power_evidence_words(network), "");
    network.power_evidence_share = {{PowerEvidence::measured, 1.0}};
    EXPECT_EQ(power_evidence_words(network), "");
    network.power_evidence_share = {{PowerEvidence::measured, 0.877}, {PowerEvidence::physical, 0.123}};
    EXPECT_EQ(power_evidence_words(network), "physical power model 12.3 %");
}

TEST(ForecastWords, SharesThatRoundToNoneOrAllAreNotPrinted) {
    NetworkForecast network;
    network.power_evidence_share = {{PowerEvidence::physical, 0.004}};
    EXPECT_EQ(power_evidence_words(network), "");
    network.power_evidence_share = {{PowerEvidence::physical, 0.996}};
    EXPECT_EQ(power_evidence_words(network), "physical power model");
}

}  // namespace
}  // namespace joulecast::cli
