#include "joulecast/profile/clock_settings.h"

#include <cmath>

#include <gmock/gmock.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

protocol::Capabilities a_worker() {
    protocol::Capabilities worker;
    worker.device.id = "a30";
    worker.locks_clocks = true;
    worker.sm_clocks_mhz = {210, 900, 915, 1440};
    worker.power_limit_low_w = 100;
    worker.power_limit_high_w = 165;
    return worker;
}

std::vector<double> clocks_of(const std::string& text, const protocol::Capabilities& worker = a_worker()) {
    std::vector<double> list;
    for (const ClockSetting& setting : clock_settings(parse_clock_wish(text, ""), worker))
        list.push_back(setting.sm_clock_mhz);
    return list;
}

std::string refusal(const std::string& clocks, const std::string& limits, const protocol::Capabilities& worker) {
    try {
        clock_settings(parse_clock_wish(clocks, limits), worker);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(ClockWish, ReadsNumbersAndRanges) {
    EXPECT_THAT(parse_clock_wish("900,1200", "").sm_clocks_mhz, ElementsAre(900, 1200));
    EXPECT_THAT(parse_clock_wish("600:1440:420,900,600", "").sm_clocks_mhz, ElementsAre(600, 1020, 1440, 900));
    EXPECT_THAT(parse_clock_wish("0.1:0.5:0.1", "").sm_clocks_mhz.size(), 5u);  // 0.1 + 4 * 0.1 > 0.5 in binary
    EXPECT_THAT(parse_clock_wish("current", "150,165").power_limits_w, ElementsAre(150, 165));
    EXPECT_TRUE(parse_clock_wish("all", "").all);
    EXPECT_FALSE(parse_clock_wish("current", "").changes());
    EXPECT_FALSE(parse_clock_wish("", "").changes());
    EXPECT_FALSE(parse_clock_wish("current", "current").changes());
    EXPECT_TRUE(parse_clock_wish("current", "150").changes());
}

TEST(ClockWish, RefusesWhatIsNeither) {
    for (const char* text :
         {"fast", "900,", "900MHz", "-1", "0", "nan", "inf", "1:2", "1:2:3:4", "2:1:1", "1:9:0", "1:1e9:0.001", ","})
        EXPECT_THROW(parse_clock_wish(text, ""), UsageError) << text;
    EXPECT_THROW(parse_clock_wish("current", "all"), UsageError);
}

// 1e300 became -9223372036854775808 MHz in messages.
TEST(ClockWish, RefusesWhatNoDeviceRunsAt) {
    for (const char* clocks : {"1e300", "900,1e19", "1e7:2e7:1e6"})
        EXPECT_THAT(refusal(clocks, "", a_worker()), HasSubstr("is beyond every clock and power limit"));
}

TEST(ClockSettings, AreOneWithoutAWish) {
    protocol::Capabilities worker;  // that may set nothing
    const auto settings = clock_settings(parse_clock_wish("current", ""), worker);
    ASSERT_EQ(settings.size(), 1u);
    EXPECT_TRUE(std::isnan(settings[0].sm_clock_mhz) && std::isnan(settings[0].power_limit_w));
}

TEST(ClockSettings, TakeTheNearestThatTheDeviceHasToAStepOfARange) {
    EXPECT_THAT(clocks_of("all"), ElementsAre(210, 900, 915, 1440));
    EXPECT_THAT(clocks_of("900,1440"), ElementsAre(900, 1440));
    EXPECT_THAT(clocks_of("880:930:10"), ElementsAre(900, 915));
    protocol::Capabilities silent = a_worker();
    silent.sm_clocks_mhz.clear();
    EXPECT_THAT(clocks_of("905", silent), ElementsAre(905));
    EXPECT_THAT(refusal("all", "", silent), HasSubstr("does not report which clocks a30 has"));
}

TEST(ClockSettings, RefuseASingleClockThatTheDeviceDoesNotHaveAndNameTheNearest) {
    EXPECT_EQ(refusal("900,905", "", a_worker()),
              "--clocks: a30 has no 905 MHz (210 to 1440 MHz in 4 steps); the nearest is 900");
    EXPECT_THAT(refusal("900:2000:100", "", a_worker()), HasSubstr("a30 has no 1500 MHz"));
    EXPECT_THAT(refusal("100:900:100", "", a_worker()), HasSubstr("the nearest is 210"));
}

TEST(ClockSettings, CombineClocksAndLimits) {
    const auto settings = clock_settings(parse_clock_wish("900,1440", "100,165"), a_worker());
    ASSERT_EQ(settings.size(), 4u);
    EXPECT_EQ(settings[1].sm_clock_mhz, 900);
    EXPECT_EQ(settings[1].power_limit_w, 165);
    EXPECT_TRUE(std::isnan(clock_settings(parse_clock_wish("current", "150"), a_worker())[0].sm_clock_mhz));
    EXPECT_THAT(refusal("current", "99", a_worker()), HasSubstr("100 to 165 W"));
    EXPECT_THAT(refusal("current", "166", a_worker()), HasSubstr("166 W is outside"));
}

TEST(ClockSettings, AreAllAtEachMemoryClock) {
    const auto settings = clock_settings(parse_clock_wish("900,1440", "", "405,1215"), a_worker());
    ASSERT_EQ(settings.size(), 4u);
    EXPECT_EQ(settings[1].sm_clock_mhz, 1440);
    EXPECT_EQ(settings[1].memory_clock_mhz, 405);
    EXPECT_EQ(settings[2].memory_clock_mhz, 1215);
    EXPECT_TRUE(std::isnan(clock_settings(parse_clock_wish("900", ""), a_worker())[0].memory_clock_mhz));
    EXPECT_TRUE(parse_clock_wish("", "", "405").changes());
    EXPECT_FALSE(parse_clock_wish("", "", "current").changes());
    EXPECT_THROW(parse_clock_wish("", "", "all"), UsageError);
}

TEST(ClockSettings, NameTheReasonWhereTheWorkerMayNot) {
    protocol::Capabilities worker = a_worker();
    worker.locks_clocks = false;
    worker.clocks_missing_reason = "no permission";
    EXPECT_EQ(refusal("900", "", worker),
              "cannot lock clocks on a30: no permission. Run as root, or measure at the current clock with --clocks "
              "current.");
    worker.clocks_missing_reason = "";
    EXPECT_THAT(refusal("current", "150", worker), HasSubstr("its worker sets none"));
}

}  // namespace
}  // namespace joulecast
