#include "lab/studies/board_engines.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

double layers(const MobileNetwork& network) {
    return static_cast<double>(network.layers.size());
}

/// Two engines with laws of their own, of sums over layers: "wide" wins on large networks, "light" on small ones.
std::vector<BoardRun> made_runs() {
    std::vector<BoardRun> list;
    for (const char* width : {"0.35", "0.5", "0.75", "1.0"})
        for (const char* side : {"96", "128", "160", "192", "224"})
            for (const char* precision : {"fp32", "int8"}) {
                const auto network =
                    mobile_network(std::string("mobilenet-v2-") + width + "-" + side, std::string(precision));
                const double wide_s = 4e-3 + 2e-11 * network->macs();
                const double light_s = 2e-5 * layers(*network) + 8e-11 * network->macs();
                list.push_back({"one", "wide", *network, wide_s, 5.0 * wide_s});
                list.push_back({"one", "light", *network, light_s, 5.0 * light_s});
            }
    return list;
}

const std::vector<BoardRun>& runs() {
    static const std::vector<BoardRun> list = made_runs();
    return list;
}

/// Of all of them, each network left out: the same for every test.
const std::vector<BoardForecast>& forecasts_left_out() {
    static const std::vector<BoardForecast> list = leave_networks_out(runs());
    return list;
}

TEST(BoardEngines, FindTheLawOfNetworksThatWereLeftOut) {
    const auto& all = runs();
    const auto& forecasts = forecasts_left_out();
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_NEAR(forecasts[i].time_s / all[i].time_s, 1.0, 0.03) << all[i].network.name << all[i].engine;
        EXPECT_NEAR(forecasts[i].energy_j / all[i].energy_j, 1.0, 0.03) << all[i].network.name << all[i].engine;
    }
}

TEST(BoardEngines, LearnNothingOfANetworkThatIsLeftOut) {
    // Nine networks: eight are left to learn from, which a forecast needs, and the work is a fifth of that for all.
    std::vector<BoardRun> all(runs().begin(), runs().begin() + 36);
    const auto before = leave_networks_out(all);
    // Both precisions of the first network and both engines: the first four.
    for (std::size_t i = 0; i < 4; ++i) {
        ASSERT_EQ(all[i].network.name, all[0].network.name);
        all[i].time_s *= 100.0;
        all[i].energy_j *= 100.0;
    }
    const auto after = leave_networks_out(all);
    for (std::size_t i = 0; i < 4; ++i) {
        ASSERT_TRUE(std::isfinite(before[i].time_s));
        EXPECT_DOUBLE_EQ(after[i].time_s, before[i].time_s);
        EXPECT_DOUBLE_EQ(after[i].law_energy_j, before[i].law_energy_j);
        EXPECT_DOUBLE_EQ(after[i].summed_energy_j, before[i].summed_energy_j);
    }
}

TEST(BoardEngines, ChooseTheEngineOfLeastEnergy) {
    std::vector<std::string> engines;
    const auto choices = choose_engines(runs(), forecasts_left_out(), engines);
    EXPECT_EQ(engines, (std::vector<std::string>{"light", "wide"}));
    ASSERT_EQ(choices.size(), 40u);  // 20 networks in two precisions
    bool light_wins = false;
    bool wide_wins = false;
    for (const EngineChoice& choice : choices) {
        (choice.best == "light" ? light_wins : wide_wins) = true;
        EXPECT_LE(choice.regret, 0.03) << choice.network;
        EXPECT_EQ(choice.regret == 0.0, choice.chosen == choice.best);
        // Always the best of the two is no regret, always the other one is.
        EXPECT_EQ(std::min(choice.regret_of_engine.at(0), choice.regret_of_engine.at(1)), 0.0);
    }
    EXPECT_TRUE(light_wins && wide_wins);
}

TEST(BoardEngines, SayNothingWithoutOtherNetworks) {
    std::vector<BoardRun> few = runs();
    few.resize(16);  // four networks
    std::vector<std::string> engines;
    const auto forecasts = leave_networks_out(few);
    for (const BoardForecast& forecast : forecasts) EXPECT_TRUE(std::isnan(forecast.time_s));
    EXPECT_TRUE(choose_engines(few, forecasts, engines).empty());
}

}  // namespace
}  // namespace joulecast
