#include "joulecast/meter/external_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

TEST(MeterLine, IsWattsOrJoulesWithOrWithoutATime) {
    EXPECT_EQ(parse_meter_line("12.5")->power_w, 12.5);
    EXPECT_TRUE(std::isnan(parse_meter_line("12.5")->energy_j));
    EXPECT_EQ(parse_meter_line(" watts\t12.5 \r")->power_w, 12.5);
    EXPECT_EQ(parse_meter_line("joules 1034.25")->energy_j, 1034.25);
    const auto all = parse_meter_line("time 17.25 watts 3 joules 4");
    EXPECT_EQ(all->time_s, 17.25);
    EXPECT_EQ(all->power_w, 3.0);
    EXPECT_EQ(all->energy_j, 4.0);
    EXPECT_EQ(parse_meter_line("joules 4 time 17.25")->time_s, 17.25);
    EXPECT_FALSE(parse_meter_line("").has_value());
    EXPECT_FALSE(parse_meter_line("# power meter 3000").has_value());
}

TEST(MeterLine, AnythingElseIsRefused) {
    for (const char* line : {"watts", "12 W", "12.5 13", "watts 1 watts 2", "time 1", "watts nan", "inf",
                             "joules 1e999", "watts 0x1", "volts 230", "time 1 watts 2 joules 3 volts 4", "12,5"}) {
        EXPECT_THROW(parse_meter_line(line), FormatError) << line;
    }
}

template <class Enough>
MeterReading read_until(Meter& meter, Enough enough) {
    for (;;) {
        const MeterReading reading = meter.read();
        if (enough(reading)) return reading;
        std::this_thread::yield();
    }
}

TEST(ExternalCommand, TellsTheLatestPowerAtTheMomentOfLooking) {
    const auto found = open_external_command("echo '# wall'; echo 10; echo watts 20; read wait", [] { return 3.0; });
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    EXPECT_FALSE(found.meter->facts().counts_energy);
    EXPECT_THAT(found.meter->facts().name, HasSubstr("command:echo"));
    const auto reading = read_until(*found.meter, [](const auto& r) { return r.power_w == 20.0; });
    EXPECT_EQ(reading.time_s, 3.0);
}

TEST(ExternalCommand, ALateLineIsPlacedWhereTheMeterSaysThatItWas) {
    double now_s = 1000.0;
    const auto found =
        open_external_command("echo joules 100 time 50; echo joules 130 time 52; read wait", [&] { return now_s; });
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    now_s = 1007.0;  // looked at late
    const auto reading = read_until(*found.meter, [](const auto& r) { return r.energy_j == 130.0; });
    EXPECT_EQ(reading.time_s, 1002.0);
}

TEST(ExternalCommand, IsLostWhenWhatItTellsMakesNoSense) {
    for (const char* end : {"joules 9", "watts 5", "oops", "joules 11 time 3"}) {
        const auto found = open_external_command(std::string("echo joules 10; echo ") + end + "; read wait");
        ASSERT_NE(found.meter, nullptr) << found.missing_reason;
        EXPECT_THROW(read_until(*found.meter, [](const auto&) { return false; }), MeterLost) << end;
    }
}

TEST(ExternalCommand, IsLostWhenItEndsOrFallsSilent) {
    const auto ended = open_external_command("echo 10; echo no wall >&2; exit 4");
    ASSERT_NE(ended.meter, nullptr) << ended.missing_reason;
    try {
        read_until(*ended.meter, [](const auto&) { return false; });
    } catch (const MeterLost& lost) {
        EXPECT_THAT(lost.what(), HasSubstr("ended (exit status 4): no wall"));
    }
    double now_s = 0.0;
    const auto silent = open_external_command("echo 10; read wait", [&] { return now_s; });
    ASSERT_NE(silent.meter, nullptr) << silent.missing_reason;
    now_s = 61.0;
    EXPECT_THROW(silent.meter->read(), MeterLost);
}

TEST(ExternalCommand, OneThatPrintsWithoutEndDoesNotHoldUs) {
    const auto found = open_external_command("yes 10");
    ASSERT_NE(found.meter, nullptr) << found.missing_reason;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(found.meter->read().power_w, 10.0);
}

TEST(ExternalCommand, SaysWhyThereIsNone) {
    EXPECT_THAT(open_external_command("exit 3").missing_reason, HasSubstr("ended (exit status 3)"));
    EXPECT_THAT(open_external_command("echo hello; read wait").missing_reason, HasSubstr("\"hello\" is not a reading"));
    EXPECT_THAT(open_external_command("yes | tr -d '\\n'").missing_reason, HasSubstr("a line that does not end"));
}

}  // namespace
}  // namespace joulecast
