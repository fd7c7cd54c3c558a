#include "joulecast/recommend/shared_error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

Estimate<Seconds> within_factor(double value, double factor) {
    return {Seconds(value), Seconds(value / factor), Seconds(value * factor)};
}

TEST(RatioBetween, CancelsWhatIsShared) {
    const auto a = within_factor(2, 1.5), b = within_factor(4, 1.5);
    // log a - log b has the deviation s sqrt(2 - 2 rho): at rho = 0.5 that of either.
    EXPECT_DOUBLE_EQ(ratio_between(a, b, 0.5).value.value(), 0.5);
    EXPECT_NEAR(ratio_between(a, b, 0.5).high.value(), 0.5 * 1.5, 1e-12);
    EXPECT_NEAR(ratio_between(a, b, 0).high.value(), 0.5 * std::pow(1.5, std::sqrt(2.0)), 1e-12);
    EXPECT_NEAR(ratio_between(a, b, 1).low.value(), 0.5, 1e-12);
    EXPECT_FALSE(ratio_between(a, Estimate<Seconds>{}, 0.5).known());
}

NetworkForecast forecast(Bound bound, const std::string& predictor = "p.jcp") {
    NetworkForecast network;
    network.limited_by = bound;
    network.predictor = predictor;
    return network;
}

TEST(SharedError, IsOfDevicesThatOneModelForecasts) {
    const auto a = forecast(Bound::device), b = forecast(Bound::device);
    EXPECT_EQ(shared_error(a, true, b, true).time, share_of_unseen_devices);
    EXPECT_EQ(shared_error(a, true, b, true).energy, share_of_unseen_devices);
    EXPECT_EQ(shared_error(a, false, b, true).time, 0) << "one of them was measured";
    EXPECT_EQ(shared_error(a, true, forecast(Bound::device, "q.jcp"), true).time, 0);
}

TEST(SharedError, IsNearlyAllOfTheTimeWhereTheSameHostDecidesIt) {
    auto a = forecast(Bound::host);
    const auto b = forecast(Bound::host);
    EXPECT_EQ(shared_error(a, true, b, true).time, share_of_one_host);
    EXPECT_EQ(shared_error(a, true, b, true).energy, share_of_unseen_devices);
    a.point.host_cpu = "another";
    EXPECT_EQ(shared_error(a, true, b, true).time, share_of_unseen_devices);
}

// Of an old card and a new one, each with a host of its age: nobody knows that they are not one machine.
TEST(SharedError, IsNoMoreWhereTheHostsAreGuessedToDiffer) {
    auto a = forecast(Bound::host), b = forecast(Bound::host);
    a.cost.host_time = within_factor(6.4e-3, 2.3);
    b.cost.host_time = within_factor(6.41e-3, 2.3);
    EXPECT_EQ(shared_error(a, true, b, true).time, share_of_one_host);
    b.cost.host_time = within_factor(4.3e-3, 2.3);
    EXPECT_EQ(shared_error(a, true, b, true).time, share_of_unseen_devices);
}

}  // namespace
}  // namespace joulecast
