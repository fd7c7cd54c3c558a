#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

/// A GPU that is known by its data sheet: both timelines and power.
const std::string on_device = " --device a100-40g-pcie ";
const std::string on_gpu = on_device + "--host python ";

struct Spans {
    std::vector<Json> host, device;
    std::vector<Json> power;
    std::string text;
};

Spans spans_of(const std::string& arguments) {
    const auto ran = run_joulecast("trace " + arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    Spans spans;
    spans.text = ran.out;
    const Json all = Json::parse(ran.out);
    std::map<int, std::string> tracks;
    for (const Json& event : all.at("traceEvents")) {
        if (event["name"] == "thread_name") tracks[event["tid"]] = event["args"]["name"];
        if (event["ph"] == "C") spans.power.push_back(event);
        if (event["ph"] != "X") continue;
        (tracks.at(event["tid"]).starts_with("host") ? spans.host : spans.device).push_back(event);
    }
    return spans;
}

Json prediction(const std::string& arguments) {
    return Json::parse(run_joulecast("predict " + arguments + " --format json").out)["predictions"][0];
}

double end_us(const Json& span) {
    return span["ts"].get<double>() + span["dur"].get<double>();
}

TEST(Trace, HasTheOrderAndTheTotalsOfTheForecast) {
    const std::string request = "resnet18 --set batch=4" + on_gpu;
    const Spans spans = spans_of(request);
    const Json forecast = prediction(request);
    constexpr double nanosecond_us = 1e-3;
    ASSERT_EQ(spans.host.size(), spans.device.size());
    EXPECT_EQ(spans.host.size(), 69U) << "resnet18's calls";
    double host = 0, device = 0;
    for (std::size_t i = 0; i < spans.host.size(); ++i) {
        EXPECT_EQ(spans.host[i]["name"], spans.device[i]["name"]);
        EXPECT_GE(spans.host[i]["ts"].get<double>(), host - nanosecond_us);
        EXPECT_GE(spans.device[i]["ts"].get<double>(), end_us(spans.host[i]) - nanosecond_us) << "before it is issued";
        EXPECT_GE(spans.device[i]["ts"].get<double>(), device - nanosecond_us) << "two at once";
        host = end_us(spans.host[i]);
        device = end_us(spans.device[i]);
    }
    EXPECT_NEAR(device * 1e-6, forecast["time_s"]["value"].get<double>(), 1e-9);
    // The area below the power track.
    double joules = 0;
    for (std::size_t i = 1; i < spans.power.size(); ++i) {
        const double seconds = (spans.power[i]["ts"].get<double>() - spans.power[i - 1]["ts"].get<double>()) * 1e-6;
        EXPECT_GE(seconds, 0);
        joules += spans.power[i - 1]["args"]["W"].get<double>() * seconds;
    }
    const double energy = forecast["energy_j"]["value"].get<double>();
    EXPECT_NEAR(joules, energy, 1e-5 * energy) << "times are cut to nanoseconds";
}

TEST(Trace, AtAnotherClockEndsAtTheForecastThere) {
    const std::string network = "resnet18 --set batch=32 --host python --device ";
    const Spans spans = spans_of(network + "a100-40g-pcie@705");
    const Spans highest = spans_of(network + "a100-40g-pcie");
    const Json forecast = prediction(network + "a100-40g-pcie@705");
    ASSERT_EQ(spans.device.size(), highest.device.size());
    EXPECT_NEAR(end_us(spans.device.back()) * 1e-6, forecast["time_s"]["value"].get<double>(), 1e-8);
    EXPECT_EQ(Json::parse(spans.text)["otherData"]["clock_mhz"], 705);
    const auto longest = [](const Spans& of, const char* what) {
        double us = 0;
        for (const Json& span : of.device)
            if (span["name"].get<std::string>().starts_with(what)) us = std::max(us, span["dur"].get<double>());
        return us;
    };
    // What computes takes nearly as much longer as the clock is lower, what moves bytes does not.
    EXPECT_GT(longest(spans, "conv2d") / longest(highest, "conv2d"), 1.5);
    EXPECT_LT(longest(spans, "relu") / longest(highest, "relu"), 1.3);
    double joules = 0;
    for (std::size_t i = 1; i < spans.power.size(); ++i)
        joules += spans.power[i - 1]["args"]["W"].get<double>() *
                  (spans.power[i]["ts"].get<double>() - spans.power[i - 1]["ts"].get<double>()) * 1e-6;
    const double energy = forecast["energy_j"]["value"].get<double>();
    EXPECT_NEAR(joules, energy, 1e-4 * energy);
}

std::int64_t nanoseconds(const Json& us) {
    return static_cast<std::int64_t>(us.get<double>() * 1000.0);
}

/// The Trace Event Format: what each kind of event must have, and that a track's spans come in order and do not lap
/// over, or a viewer drops them.
void expect_sound(const Json& trace) {
    std::map<int, std::int64_t> done;  // by track, nanoseconds
    std::map<std::int64_t, int> arrows;
    std::int64_t last_power = 0;
    for (const Json& event : trace.at("traceEvents")) {
        const std::string phase = event.at("ph");
        ASSERT_TRUE(event.at("name").is_string() && event.at("pid").is_number_integer()) << event;
        if (phase == "M") {
            ASSERT_TRUE(event.at("args").is_object());
            continue;
        }
        ASSERT_GE(event.at("ts").get<double>(), 0) << event;
        const std::int64_t start = nanoseconds(event["ts"]);
        if (phase == "X") {
            ASSERT_GE(event.at("dur").get<double>(), 0) << event;
            ASSERT_GE(start, done[event.at("tid")]) << event;
            done[event.at("tid")] = start + nanoseconds(event["dur"]);
            ASSERT_TRUE(event.at("cat").is_string() && event.at("args").is_object()) << event;
        } else if (phase == "C") {
            ASSERT_GE(start, last_power) << event;
            last_power = start;
            ASSERT_GE(event.at("args").at("W").get<double>(), 0) << event;
        } else {
            ASSERT_TRUE(phase == "s" || phase == "f") << event;
            arrows[event.at("id")] += phase == "s" ? 1 : -1;
        }
    }
    for (const auto& [number, open] : arrows) EXPECT_EQ(open, 0) << "arrow " << number << " has one end";
}

TEST(Trace, KeepsToTheTraceEventFormat) {
    for (const char* request :
         {"resnet18", "vit_b_16 --host graph", "mobilenet_v2 --mode training --optimizer adam --accumulate 3",
          "resnet18 --precision amp-fp16 --mode training --host cpp"}) {
        SCOPED_TRACE(request);
        expect_sound(Json::parse(spans_of(std::string(request) + on_device).text));
    }
}

TEST(Trace, GoesForwardBackwardAndUpdates) {
    const Spans spans = spans_of("resnet18 --mode training --optimizer adamw" + on_gpu);
    std::vector<std::string> parts;
    for (const Json& span : spans.device) {
        const auto part = span["args"]["part"].get<std::string>();
        if (parts.empty() || parts.back() != part) parts.push_back(part);
    }
    EXPECT_EQ(parts.front(), "forward");
    EXPECT_EQ(parts[1], "backward");
    EXPECT_THAT(parts, ::testing::Contains("gradient sum"));
    EXPECT_EQ(parts.back(), "update");
    const Json& first = spans.device.front();
    EXPECT_EQ(first["args"]["module"], "conv1");
    EXPECT_THAT(first["args"]["operation"].get<std::string>(), HasSubstr("aten::conv2d("));
    EXPECT_FALSE(first["args"]["evidence"].get<std::string>().empty());
    // The first convolution is the last to go backward.
    const auto last = std::find_if(spans.device.rbegin(), spans.device.rend(),
                                   [](const Json& span) { return span["args"]["part"] == "backward"; });
    EXPECT_EQ((*last)["args"]["module"], "conv1");
}

TEST(Trace, OfACpuHasOneTrackAndNoPowerWithoutAMeter) {
    const std::string predictor =
        std::string(" --predictor ") + JOULECAST_SOURCE_DIR + "/tests/model/data/version_1.jcp ";
    const std::string request = "resnet18 --device cpu-synthetic" + predictor;
    const Spans spans = spans_of(request);
    EXPECT_TRUE(spans.host.empty());
    EXPECT_TRUE(spans.power.empty());
    EXPECT_NEAR(end_us(spans.device.back()) * 1e-6, prediction(request)["time_s"]["value"].get<double>(), 1e-9);
}

TEST(Trace, SurvivesHostileModulePaths) {
    const TemporaryFolder folder;
    const std::string file = folder.file("hostile.graph.json");
    ASSERT_EQ(run_joulecast("extract resnet18 --graph " + file).status, 0);
    std::string text = read_file(file);
    const std::string before = "\"layer1.0.conv1\"", after = "\"</script>\\\"},{\\\"ph\\\"\"";
    for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1))
        text.replace(at, before.size(), after);
    write_file(file, text);
    const Spans spans = spans_of(file + on_gpu);
    EXPECT_TRUE(std::ranges::any_of(spans.device,
                                    [](const Json& span) { return span["args"]["module"] == "</script>\"},{\"ph\""; }));
    EXPECT_EQ(spans.device.size(), 69U);
}

TEST(Trace, RefusesWhatHasNoOrderAndMoreThanOneNetwork) {
    const TemporaryFolder folder;
    const std::string bag = folder.file("bag.graph.json");
    ASSERT_EQ(run_joulecast("extract resnet18 --bag --graph " + bag).status, 0);
    const auto ran = run_joulecast("trace " + bag + on_gpu);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("their order is unknown"));
    EXPECT_EQ(run_joulecast("trace resnet18 --set batch=1,2" + on_gpu).status, 2);
    EXPECT_EQ(run_joulecast("trace resnet18 --optimizer-form fused --mode training" + on_gpu).status, 2);
    EXPECT_EQ(run_joulecast("trace resnet18 --optimizer adam" + on_gpu).status, 2) << "inference has no optimizer";
}

}  // namespace
}  // namespace joulecast::testing
