#include "joulecast/meter/power_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <sstream>
#include <vector>

#include "tests/meter/folder.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Tells the readings one after another, then that it is lost; counts down a latch with each.
class ListedMeter final : public Meter {
  public:
    ListedMeter(std::vector<MeterReading> readings, std::latch& read) : readings_(std::move(readings)), read_(read) {}
    const MeterFacts& facts() const override { return facts_; }
    MeterReading read() override {
        if (next_ == readings_.size() + 1) return readings_.back();
        if (!read_.try_wait()) read_.count_down();
        if (next_++ == readings_.size()) throw MeterLost("the \"meter\" fell,\noff the bus");
        return readings_[next_ - 1];
    }

  private:
    std::vector<MeterReading> readings_;
    std::latch& read_;
    std::size_t next_ = 0;
    MeterFacts facts_;
};

class ListedProbe final : public DeviceStateProbe {
  public:
    DeviceState read() override {
        DeviceState state;
        state.sm_clock_mhz = 1410;
        state.temperature_c = 51.5;
        state.throttle_reasons = 4;
        return state;
    }
};

MeterReading energy(double time_s, double energy_j) {
    MeterReading reading;
    reading.time_s = time_s;
    reading.energy_j = energy_j;
    return reading;
}

PowerLogSettings settings_in(const Folder& folder) {
    return {folder.path() / "log.csv", 0.0, [] { return 99.0; }, [] { return 1709210096.789; }};
}

TEST(PowerLog, WritesTimeEnergyAndStateAndSurvivesALostMeter) {
    const Folder folder;
    std::latch read(4);
    PowerLog log(
        settings_in(folder),
        std::make_unique<ListedMeter>(std::vector{energy(1.0, 100.0), energy(1.1, 100.0), energy(1.2, 150.0)}, read),
        std::make_unique<ListedProbe>());
    read.wait();
    log.stop();
    auto lines = lines_of(folder.read("log.csv"));
    ASSERT_GE(lines.size(), 6u);  // a last line without the meter follows the one that says why
    EXPECT_EQ(log.failure(), "");
    lines.resize(6);
    const std::string state = "1410.0,,51.5,4,";
    // Power of a counter: (150 - 100) J / (1.2 - 1.0) s from renewal to renewal, nothing between.
    EXPECT_THAT(lines,
                ElementsAre(power_log_header,                                                  //
                            "2024-02-29T12:34:56.789Z,1.000000,,100.000000," + state,          //
                            "2024-02-29T12:34:56.789Z,1.100000,,100.000000," + state,          //
                            "2024-02-29T12:34:56.789Z,1.200000,250.0000,150.000000," + state,  //
                            "2024-02-29T12:34:56.789Z,99.000000,,," + state + "\"the \"\"meter\"\" fell, off the bus\"",
                            "2024-02-29T12:34:56.789Z,99.000000,,," + state));
}

TEST(PowerLog, GoesOnInTheSameFileAfterALineCutOffByAKill) {
    const Folder folder;
    folder.put("log.csv", std::string(power_log_header) + "\n2024-02-29T12:3");
    PowerLog(settings_in(folder), nullptr, nullptr).stop();
    const auto lines = lines_of(folder.read("log.csv"));
    ASSERT_GE(lines.size(), 3u);
    EXPECT_EQ(lines[1], "2024-02-29T12:3");
    EXPECT_EQ(lines[2], "2024-02-29T12:34:56.789Z,99.000000,,,,,,,");
    EXPECT_EQ(std::count(lines.begin(), lines.end(), power_log_header), 1);
}

TEST(PowerLog, RefusesAFileThatIsNoPowerLog) {
    const Folder folder;
    folder.put("log.csv", "a,b\n1,2\n");
    EXPECT_THROW(PowerLog(settings_in(folder), nullptr, nullptr), Error);
    EXPECT_EQ(folder.read("log.csv"), "a,b\n1,2\n");
}

TEST(PowerLog, RefusesAFolderThatIsNotThere) {
    const Folder folder;
    auto settings = settings_in(folder);
    settings.file = folder.path() / "nowhere" / "log.csv";
    EXPECT_THROW(PowerLog(settings, nullptr, nullptr), Error);
}

TEST(PowerLog, SaysThatItCannotBeWritten) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    const Folder folder;
    auto settings = settings_in(folder);
    const auto link = folder.path() / "full.csv";
    std::filesystem::create_symlink("/dev/full", link);
    settings.file = link;
    try {
        PowerLog(settings, nullptr, nullptr);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("cannot write the power log"));
    }
}

TEST(PowerLog, EndsAtOnceThoughItsPeriodIsLong) {
    const Folder folder;
    auto settings = settings_in(folder);
    settings.period_s = 86400.0;
    PowerLog(settings, nullptr, nullptr).stop();
    EXPECT_EQ(lines_of(folder.read("log.csv")).size(), 3u);  // header, first line, last line
}

}  // namespace
}  // namespace joulecast
