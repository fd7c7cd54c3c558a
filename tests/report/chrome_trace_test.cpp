#include "joulecast/report/chrome_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace joulecast {
namespace {

using Json = nlohmann::json;

Json events_of(const ChromeTrace& trace, const std::string& phase) {
    Json found = Json::array();
    const Json all = Json::parse(to_chrome_json(trace));
    for (const Json& event : all.at("traceEvents")) {
        if (event.at("ph") == phase) found.push_back(event);
    }
    return found;
}

TEST(ChromeTrace, WritesSpansInMicrosecondsInTheirOrder) {
    ChromeTrace trace;
    trace.tracks = {"host", "device"};
    trace.spans = {{0, "issue", "forward", 0, 2e-6, {}},
                   {1, "work", "forward", 2e-6, 5e-3, {{"calls", std::int64_t{3}}}}};
    const Json spans = events_of(trace, "X");
    ASSERT_EQ(spans.size(), 2U);
    EXPECT_EQ(spans[0]["name"], "issue");
    EXPECT_NEAR(spans[0]["dur"].get<double>(), 2, 1e-12);
    EXPECT_NEAR(spans[1]["ts"].get<double>(), 2, 1e-12);
    EXPECT_NEAR(spans[1]["dur"].get<double>(), 4998, 1e-9);
    EXPECT_NE(spans[0]["tid"], spans[1]["tid"]);
    EXPECT_EQ(spans[1]["args"]["calls"], 3);
}

TEST(ChromeTrace, NamesItsTracksAndTheProcess) {
    ChromeTrace trace;
    trace.process = "resnet18 on a GPU";
    trace.tracks = {"host", "device"};
    const Json names = events_of(trace, "M");
    EXPECT_EQ(names[0]["args"]["name"], "resnet18 on a GPU");
    EXPECT_EQ(names[1]["args"]["name"], "host");
    EXPECT_EQ(names[3]["args"]["name"], "device");
    EXPECT_EQ(names[4]["args"]["sort_index"], 1);
}

TEST(ChromeTrace, DrawsArrowsFromWithinOneToTheStartOfTheOther) {
    ChromeTrace trace;
    trace.tracks = {"host", "device"};
    trace.spans = {{0, "a", "", 0, 1, {}}, {1, "a", "", 3, 4, {}}};
    trace.arrows = {{0, 1}};
    const Json start = events_of(trace, "s"), end = events_of(trace, "f");
    ASSERT_EQ(start.size(), 1U);
    ASSERT_EQ(end.size(), 1U);
    EXPECT_EQ(start[0]["ts"], 5e5) << "at its end the next span of the track would be taken for it";
    EXPECT_EQ(end[0]["ts"], 3e6);
    EXPECT_EQ(start[0]["id"], end[0]["id"]);
    EXPECT_EQ(end[0]["bp"], "e");
}

/// Perfetto reads microseconds as a double, multiplies by 1000, cuts to whole nanoseconds and drops what laps over.
TEST(ChromeTrace, SpansThatMeetDoNotLapOverInWholeNanoseconds) {
    ChromeTrace trace;
    trace.tracks = {"device"};
    double at_s = 0;
    for (int i = 1; i < 2000; ++i) {
        const double end_s = at_s + 1e-6 / 7 * i;
        trace.spans.push_back({0, "call", "", at_s, end_s, {}});
        at_s = end_s;
    }
    const Json spans = events_of(trace, "X");
    const auto nanoseconds = [](const Json& us) { return static_cast<std::int64_t>(us.get<double>() * 1000.0); };
    for (std::size_t i = 1; i < spans.size(); ++i) {
        const std::int64_t end = nanoseconds(spans[i - 1]["ts"]) + nanoseconds(spans[i - 1]["dur"]);
        ASSERT_EQ(nanoseconds(spans[i]["ts"]), end) << i;
    }
    const Json& last = spans.back();
    EXPECT_NEAR(static_cast<double>(nanoseconds(last["ts"]) + nanoseconds(last["dur"])), at_s * 1e9, 0.51);
}

TEST(ChromeTrace, CountsPower) {
    ChromeTrace trace;
    trace.counters = {{"power", "W", {{0, 20}, {1e-3, 150.5}}}};
    const Json samples = events_of(trace, "C");
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(samples[1]["args"]["W"], 150.5);
    EXPECT_EQ(samples[1]["ts"], 1e3);
}

TEST(ChromeTrace, SurvivesAnyName) {
    ChromeTrace trace;
    const std::string hostile = "\"},{\"ph\":\"X\"</script>\n\x01\xff";
    trace.tracks = {hostile};
    trace.spans = {{0, hostile, hostile, 0, 1, {{hostile, hostile}, {"nan", std::nan("")}, {"none", Cell()}}}};
    const Json spans = events_of(trace, "X");
    ASSERT_EQ(spans.size(), 1U) << "the name closed its event";
    EXPECT_EQ(spans[0]["name"].get<std::string>(), "\"},{\"ph\":\"X\"</script>\n\x01\xEF\xBF\xBD");
    EXPECT_TRUE(spans[0]["args"]["nan"].is_null());
    EXPECT_TRUE(spans[0]["args"]["none"].is_null());
}

}  // namespace
}  // namespace joulecast
