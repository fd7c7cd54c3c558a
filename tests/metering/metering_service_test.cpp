#include "workers/metering/metering_service.h"

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "joulecast/process/child_process.h"
#include "meter/folder.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using joulecast::testing::Folder;

constexpr std::chrono::seconds patience{60};

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The program, on a board that draws 8 W all along.
struct Meter {
    Folder root;
    std::unique_ptr<ChildProcess> program;

    Meter() {
        root.put("sys/class/hwmon/hwmon0/name", "ina3221\n");
        root.put("sys/class/hwmon/hwmon0/in1_label", "VDD_IN\n");
        root.put("sys/class/hwmon/hwmon0/in1_input", "5000\n");
        root.put("sys/class/hwmon/hwmon0/curr1_input", "1600\n");
        program = std::make_unique<ChildProcess>("exec '" METER "' --root '" + root.path().string() + "'", 1 << 20);
    }
    Json say(const std::string& line) const {
        const auto reply = program->exchange(line, patience);
        EXPECT_EQ(reply.ending, ChildProcess::Ending::line) << program->error_tail();
        return Json::parse(reply.line);
    }
    /// Makes the calls that are asked for, of `call_s` each, and answers `late` times later than they took.
    Json with_calls(const std::string& line, double call_s, double late) const {
        Json answer = say(line);
        while (answer.contains("run")) {
            const double ran_s = call_s * answer["run"].get<double>();
            const double end_s = now_s() + late * ran_s;
            while (now_s() < end_s) {
            }
            answer = say(Json{{"ran_s", ran_s}}.dump());
        }
        return answer;
    }
};

TEST(Metering, TellsTheMeterThatItReads) {
    const Meter meter;
    EXPECT_EQ(meter.say(R"({"ask":"open","meter":"auto"})").at("meter"), "hwmon:ina3221:VDD_IN");
    EXPECT_THAT(meter.say(R"({"ask":"open","meter":"rapl"})").at("missing_reason"), HasSubstr("RAPL"));
}

TEST(Metering, EnergyIsPowerTimesTheCallsOwnTime) {
    const Meter meter;
    meter.say(R"({"ask":"open","meter":"hwmon"})");
    const std::string energy = R"({"ask":"energy","call_s":1e-4,"window_s":0.3,"load_on_s":1})";
    const Json at_once = meter.with_calls(energy, 1e-4, 1.0);
    EXPECT_NEAR(at_once.at("energy_j").get<double>(), 8.0 * 1e-4, 0.05 * 8.0 * 1e-4);
    EXPECT_NEAR(at_once.at("power_w").get<double>(), 8.0, 1e-9);
    // Half of what the program waits for are no calls, but the way there and back.
    const Json late = meter.with_calls(energy, 1e-4, 2.0);
    EXPECT_NEAR(late.at("energy_j").get<double>(), 8.0 * 1e-4, 0.05 * 8.0 * 1e-4);
}

TEST(Metering, ALostMeterIsAReasonAndIsOpenedAgain) {
    const Meter meter;
    meter.say(R"({"ask":"open","meter":"hwmon"})");
    meter.root.put("sys/class/hwmon/hwmon0/curr1_input", "gone\n");
    const std::string energy = R"({"ask":"energy","call_s":1e-4,"window_s":0.3})";
    EXPECT_THAT(meter.with_calls(energy, 1e-4, 1.0).at("missing_reason"), HasSubstr("hwmon"));
    EXPECT_THAT(meter.say(energy).at("error"), HasSubstr("no meter is open"));
    meter.root.put("sys/class/hwmon/hwmon0/curr1_input", "1600\n");
    EXPECT_TRUE(meter.say(R"({"ask":"open","meter":"hwmon"})").contains("meter"));
}

TEST(Metering, TellsWhatHeatDid) {
    const Meter meter;
    meter.say(R"({"ask":"begin"})");
    EXPECT_EQ(meter.say(R"({"ask":"end"})").at("limited_by"), "unknown");
    meter.root.put("sys/class/thermal/cooling_device0/type", "thermal-cpufreq-0\n");
    meter.root.put("sys/class/thermal/cooling_device0/cur_state", "1\n");
    meter.say(R"({"ask":"begin"})");
    EXPECT_EQ(meter.say(R"({"ask":"end"})").at("limited_by"), "thermal");
}

TEST(Metering, ALineThatCannotBeReadIsAnErrorAndNoMore) {
    const Meter meter;
    for (const char* line : {"{", "[]", R"({"ask":"dance"})", R"({"ask":"open"})", R"({"ask":"prepare","call_s":"x"})"})
        EXPECT_TRUE(meter.say(line).contains("error")) << line;
    EXPECT_TRUE(meter.say(R"({"ask":"open","meter":"auto"})").contains("meter"));
}

}  // namespace
}  // namespace joulecast
