#include "joulecast/meter/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "joulecast/meter/power_log.h"
#include "tests/meter/folder.h"

namespace joulecast {
namespace {

using testing::Folder;
using ::testing::HasSubstr;

Trace trace_of(const std::string& text) {
    std::istringstream stream(text);
    return read_trace(stream, "trace.csv");
}

struct Player {
    explicit Player(const std::string& text, double renewal_s = 0.0, bool repeat = false) {
        meter = replay_meter(trace_of(text), {[this] { return now_s; }, renewal_s, repeat});
    }
    MeterReading at(double played_s) {
        now_s = 1000.0 + played_s;
        return meter->read();
    }
    double now_s = 1000.0;
    std::unique_ptr<Meter> meter;
};

TEST(Replay, TellsThePowerOfTheLastRow) {
    Player player("time_s,power_w\n5.0,10\n5.5,20\n6.5,30\n");
    EXPECT_FALSE(player.meter->facts().counts_energy);
    EXPECT_EQ(player.at(0.0).power_w, 10.0);  // the first row is the start, whatever its time
    EXPECT_EQ(player.at(0.49).power_w, 10.0);
    EXPECT_EQ(player.at(0.5).power_w, 20.0);
    EXPECT_EQ(player.at(1.5).power_w, 30.0);
    EXPECT_EQ(player.at(0.5).time_s, 1000.5);
    EXPECT_TRUE(std::isnan(player.at(0.5).energy_j));
}

TEST(Replay, CountsEnergyBetweenTheRows) {
    Player player("energy_j,time_s\n700,0\n720,1\n780,3\n");
    EXPECT_TRUE(player.meter->facts().counts_energy);
    EXPECT_DOUBLE_EQ(player.at(0.5).energy_j, 10.0);
    EXPECT_DOUBLE_EQ(player.at(2.0).energy_j, 50.0);  // 20 + 1 s of (780 - 720) / 2 W
    EXPECT_DOUBLE_EQ(player.at(3.0).energy_j, 80.0);
}

TEST(Replay, RenewsItselfOnlyAtItsPeriod) {
    Player player("time_s,energy_j\n0,0\n10,1000\n", 0.25);
    EXPECT_EQ(player.meter->facts().period_s, 0.25);
    EXPECT_DOUBLE_EQ(player.at(0.74).energy_j, 50.0);
    EXPECT_DOUBLE_EQ(player.at(0.76).energy_j, 75.0);
    EXPECT_DOUBLE_EQ(player.at(0.76).time_s, 1000.76);  // when it was looked at, not when it was renewed
}

TEST(Replay, IsLostAtTheEndUnlessItRepeats) {
    const std::string text = "time_s,energy_j\n0,0\n2,100\n";
    Player once(text);
    EXPECT_THROW(once.at(2.5), MeterLost);
    Player again(text, 0.0, true);
    EXPECT_DOUBLE_EQ(again.at(2.5).energy_j, 125.0);
    EXPECT_DOUBLE_EQ(again.at(5.0).energy_j, 250.0);
}

TEST(Replay, PlaysAPowerLog) {
    Player player(std::string(power_log_header) +
                  "\n2024-02-29T12:34:56.789Z,7.0,,100.0,1410.0,,51.5,4,\"lost, \"\"found\"\"\"\r\n"
                  "2024-02-29T12:34:57.789Z,8.0,250.0,350.0,1410.0,,51.5,4,\n"
                  "2024-02-29T12:34:58.789Z,9.0,,,1410.0,,51.5,4,\n");
    EXPECT_DOUBLE_EQ(player.at(0.5).energy_j, 125.0);
    EXPECT_DOUBLE_EQ(player.at(2.0).energy_j, 250.0);
}

TEST(Replay, PlaysALogOfNvidiaSmiWithAHeaderAndWithout) {
    const std::string lines =
        "2024/02/29 12:34:56.000, 97 %, 30.5 W, 512 MiB, 24576 MiB\n"
        "2024/02/29 12:34:57.500, 97 %, 164.25 W, 512 MiB, 24576 MiB\n"
        "2024/02/29 12:34:58.500, 97 %, 164.25 W, 512 MiB, 245";  // cut off
    const std::string header =
        "timestamp, utilization.gpu [%], power.draw [W], memory.used [MiB], memory.total [MiB]\n";
    for (const std::string& text : {header + lines, lines}) {
        const Trace trace = trace_of(text);
        EXPECT_THAT(trace.power_w, ::testing::ElementsAre(30.5, 164.25));
        EXPECT_THAT(trace.power_time_s, ::testing::ElementsAre(0, ::testing::DoubleNear(1.5, 1e-6)));
    }
    EXPECT_THROW(trace_of("index, timestamp, power.draw [W]\n0, 2024/02/29 12:34:56, 30 W\n"
                          "1, 2024/02/29 12:34:56, 40 W\n"),
                 FormatError);
}

TEST(Replay, NamesTheLineThatIsWrong) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            trace_of(text);
        } catch (const FormatError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message(""), HasSubstr("the file is empty"));
    EXPECT_THAT(message("time_s\n"), HasSubstr("no such columns"));
    EXPECT_THAT(message("time_s,power_w\n"), HasSubstr("no row with a value"));
    EXPECT_THAT(message("time_s,power_w\n1,2\n0,2\n"), HasSubstr("line 3: time goes back"));
    EXPECT_THAT(message("time_s,energy_j\n1,2\n2,1\n"), HasSubstr("line 3: energy falls"));
    EXPECT_THAT(message("time_s,power_w\n1,inf\n"), HasSubstr("line 2: a field is not a number"));
    EXPECT_THAT(message("time_s,power_w\n-1e308,2\n"), HasSubstr("line 2: a field is not a number"));
    EXPECT_THAT(message("time_s,power_w\n1,2x\n"), HasSubstr("line 2: a field is not a number"));
    EXPECT_THAT(message("time_s,power_w\n,2\n"), HasSubstr("line 2: a value without a time"));
}

TEST(Replay, AFileThatCannotBePlayedIsAReason) {
    const Folder folder;
    EXPECT_THAT(open_replay(folder.path() / "none.csv").missing_reason, HasSubstr("cannot be read"));
    EXPECT_THAT(open_replay(folder.put("bad.csv", "x\n")).missing_reason, HasSubstr("no such columns"));
    EXPECT_NE(open_replay(folder.put("good.csv", "time_s,power_w\n0,1\n")).meter, nullptr);
}

}  // namespace
}  // namespace joulecast
