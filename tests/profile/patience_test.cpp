#include "joulecast/profile/patience.h"

#include <cmath>

#include <gtest/gtest.h>

namespace joulecast {
namespace {

using std::chrono::seconds;

TEST(Patience, GrowsWithWhatIsAsked) {
    MeasureSettings settings;
    settings.measure_energy = false;
    // 120 s + 4 * (3 * 0.05 s + 1.8 * 0.25 s)
    EXPECT_EQ(patience(settings, 0, false).count(), 122'400);
    // Ten times the budget for a network, and 40 calls at twenty times a second: 120 + 4 * (0.15 + 4.5) + 800
    EXPECT_EQ(patience(settings, 1, true).count(), 938'600);
    settings.measure_energy = true;
    EXPECT_EQ(patience(settings, 0, false).count(), 122'400 + 4 * 2 * 5000);
    settings.energy_window_s = 60;
    EXPECT_EQ(patience(settings, 0, false).count(), 122'400 + 4 * 2 * 60'000);
    settings.method = Method::thesis;
    EXPECT_EQ(patience(settings, 0, false).count(), 122'400 + 4 * 2 * 60'000 + 600'000);
}

TEST(Patience, IsNeverWithoutEnd) {
    EXPECT_EQ(patience({}, 1e300, true), seconds(24 * 3600));
    EXPECT_LT(patience({}, std::nan(""), false), seconds(300));
    EXPECT_GT(preparing_patience(), seconds(70));  // calibration and the longest soak
}

TEST(Patience, IsLongerByWhatIsAskedForButNoMoreThanADay) {
    EXPECT_EQ(longer_patience(seconds(122), 600), seconds(722));
    EXPECT_EQ(longer_patience(seconds(122), 1e300), seconds(24 * 3600));
}

}  // namespace
}  // namespace joulecast
