#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "joulecast/report/table.h"
#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;

json compared(const std::string& arguments) {
    const auto ran = run_joulecast("compare " + arguments + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out);
}

TEST(Compare, CountsTheWholeJobOnEveryDevice) {
    const auto answer = compared(
        "resnet18 --device a100 l4 --batch 32 --samples 1,000 --epochs 2 --hours-price a100=3.6,l4=0.8 --kwh-price "
        "0.25 "
        "--carbon 400 --currency EUR");
    EXPECT_EQ(answer["schema"], "joulecast.comparison/1");
    EXPECT_EQ(answer["samples"], 2000);
    EXPECT_EQ(answer["currency"], "EUR");
    ASSERT_EQ(answer["devices"].size(), 2U);
    const auto alone = json::parse(run_joulecast("predict resnet18 --device l4 --batch 32 --format json").out);
    const auto& run = alone["predictions"][0];
    const auto& l4 = answer["devices"][1];
    EXPECT_EQ(l4["runs"], 63) << "of 32";
    const double seconds = 63 * run["time_s"]["value"].get<double>(),
                 joules = 63 * run["energy_j"]["value"].get<double>();
    EXPECT_NEAR(l4["time_s"]["value"].get<double>(), seconds, 1e-9);
    EXPECT_NEAR(l4["energy_j"]["value"].get<double>(), joules, 1e-6);
    EXPECT_NEAR(l4["price"]["value"].get<double>(), 0.8 * seconds / 3600 + 0.25 * joules / 3.6e6, 1e-12);
    EXPECT_NEAR(l4["carbon_g"]["value"].get<double>(), 400 * joules / 3.6e6, 1e-9);
    EXPECT_TRUE(answer["devices"][0]["over_first"]["time"].is_null()) << "the first is what others are held against";
}

TEST(Compare, ARatioIsNarrowerThanTwoIntervalsOfTheirOwnAndATieWhereItHoldsOne) {
    const auto answer = compared("resnet50 --device a100 t4 --batch 64 --precision fp16");
    const auto& first = answer["devices"][0]["time_s"];
    const auto& second = answer["devices"][1]["time_s"];
    const auto& ratio = answer["devices"][1]["over_first"]["time"];
    const auto value = [](const json& of, const char* key) { return of.at(key).get<double>(); };
    EXPECT_NEAR(value(ratio, "value"), value(second, "value") / value(first, "value"), 1e-9);
    EXPECT_LT(value(ratio, "high"), value(second, "high") / value(first, "low"));
    const auto half = [&](const json& of) { return std::log(value(of, "high") / value(of, "low")) / 2; };
    EXPECT_NEAR(half(ratio),
                std::sqrt(half(first) * half(first) + half(second) * half(second) - half(first) * half(second)), 1e-6)
        << "a correlation of one half";
    EXPECT_EQ(ratio["tie"].get<bool>(), value(ratio, "low") <= 1 && value(ratio, "high") >= 1);
    const auto same = compared("resnet18 --device h100 h200");
    EXPECT_TRUE(same["devices"][1]["over_first"]["time"]["tie"].get<bool>()) << "Python decides both";
    EXPECT_EQ(same["devices"][1]["limited_by"], "host");
}

// A llama of 32 GB in float32: an L4 of 24 GB would take the least energy, if it held it.
TEST(Compare, NamesOnlyADeviceThatHoldsTheNetworkAndAllThatTieWithIt) {
    const std::string question = "llama-3.1-8b --device a100-80g-sxm l4 h100-sxm h200";
    const auto answer = compared(question);
    const auto& devices = answer["devices"];
    ASSERT_FALSE(devices[1]["fits"].get<bool>());
    for (const auto& device : devices)
        EXPECT_LE(devices[1]["energy_j"]["value"], device["energy_j"]["value"]) << device["device"];
    const std::vector<std::string> hopper{"h100-sxm", "h200"};
    for (const char* what : {"time", "energy"}) {
        const auto& least = answer["least"][what];
        EXPECT_THAT(hopper, Contains(least["device"].get<std::string>())) << what;
        EXPECT_THAT(least["ties"].get<std::vector<std::string>>(), IsSubsetOf({"a100-80g-sxm", "h100-sxm", "h200"}));
        EXPECT_EQ(least["ties"].size(), what == std::string("time") ? 1U : 2U)
            << "both Hoppers, and of energy the A100";
    }
    EXPECT_TRUE(answer["least"]["price"].is_null());
    EXPECT_THAT(run_joulecast("compare " + question).out, HasSubstr("(a tie with"));
    EXPECT_THAT(run_joulecast("compare llama-3.1-8b --device t4 l4").out,
                HasSubstr("None of these devices has memory for it."));
}

TEST(Compare, FitsTheTerminalWhateverTheNumberOfDevices) {
    const auto ran =
        run_shell("COLUMNS=80 \"$JOULECAST\" compare resnet50 --device a100 h100 l4 t4 v100 --batch 8 --carbon 400");
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
    for (const char* part : {"a100-40g-pcie", "h100-sxm", "l4", "t4", "v100-16g-pcie", "time ratio", "energy ratio",
                             "g CO2", "memory", "limited by", "Least time: "})
        EXPECT_THAT(ran.out, HasSubstr(part));
}

TEST(Compare, RefusesWhatIsNoComparison) {
    const auto refused = [](const std::string& rest, const std::string& message) {
        const auto ran = run_joulecast("compare " + rest);
        EXPECT_EQ(ran.status, 2) << rest;
        EXPECT_THAT(ran.err, HasSubstr(message)) << rest;
    };
    refused("resnet18 --device a100", "two devices or more");
    refused("resnet18 vgg16 --device a100 l4", "one network");
    refused("resnet18 --device a100 l4 --batch 1,8", "at one size");
    refused("resnet18 --device a100 l4 --epochs 3", "--samples");
    refused("resnet18 --device a100 l4 --samples many", "--samples");
    refused("resnet18 --device a100 l4 --hours-price a100=x", "--device-price");
}

TEST(Compare, WritesARowForEachDevice) {
    const auto ran = run_joulecast("compare --device a100,l4 resnet18 --format csv");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(std::ranges::count(ran.out, '\n'), 3);
    EXPECT_THAT(ran.out, HasSubstr("time_s,time_low_s,time_high_s"));
    EXPECT_THAT(ran.out, HasSubstr("time_over_first"));
}

}  // namespace
}  // namespace joulecast::testing
