#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::run_joulecast;
using testing::TemporaryFolder;

json compared(const std::string& arguments) {
    const auto ran = run_joulecast("diff --format json " + arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out);
}

/// A bag of operations as a file.
std::string bag(const TemporaryFolder& folder, const std::string& name, const json& nodes) {
    const json graph{{"schema", "joulecast.graph/1"}, {"has_edges", false}, {"nodes", nodes}};
    testing::write_file(folder.path() / name, graph.dump());
    return folder.file(name);
}

TEST(Diff, TwoRunsIntoTwoDatabasesAgreeOrNot) {
    const testing::TemporaryFolder folder;
    const std::string worker = " --worker \"exec '" FAKE_WORKER "'\" --set batch=8 ";
    for (const char* file : {"a.db", "b.db"})
        ASSERT_EQ(run_joulecast("profile alexnet --networks --db " + folder.file(file) + worker).status, 0);
    const json answer = compared(folder.file("a.db") + " " + folder.file("b.db"));
    EXPECT_EQ(answer.at("schema"), "joulecast.agreement/1");
    EXPECT_GT(answer.at("shared"), 10);
    EXPECT_EQ(answer.at("only_before"), 0);
    EXPECT_EQ(answer.at("median_difference"), 0);  // the fake answers alike
    const auto table = run_joulecast("diff " + folder.file("a.db") + " " + folder.file("b.db") + " --top 3");
    EXPECT_THAT(table.out, HasSubstr("in both, 0 in the first alone"));
    EXPECT_THAT(table.out, HasSubstr("more that agree better"));
    EXPECT_EQ(run_joulecast("diff alexnet " + folder.file("b.db")).status, 2);
    // Taken and passed over, but for --device.
    for (const char* of_networks : {" --device cpu", " --set batch=8", " --set-b batch=8", " --mode training"}) {
        const auto refused = run_joulecast("diff " + folder.file("a.db") + " " + folder.file("b.db") + of_networks);
        EXPECT_EQ(refused.status, 2) << of_networks;
        EXPECT_THAT(refused.err, HasSubstr("are for networks")) << of_networks;
    }
}

/// A device whose every cost is forecast by a predictor that is checked in.
const std::string on_device = std::string(" --device cpu-synthetic --host cpp --predictor ") + JOULECAST_SOURCE_DIR +
                              "/tests/model/data/version_1.jcp ";

TEST(Diff, TellsWhatTheDifferencesCostOnADevice) {
    const json answer = compared("resnet18 resnet34 --set batch=2" + on_device);
    const json& forecast = answer.at("forecast");
    EXPECT_EQ(forecast.at("device"), "cpu-synthetic");
    EXPECT_EQ(forecast.at("host"), "cpp");
    const double before = forecast.at("before").at("time_s").at("value");
    const double after = forecast.at("after").at("time_s").at("value");
    const json& more = forecast.at("difference").at("time_s");
    EXPECT_NEAR(more.at("value").get<double>(), after - before, 1e-12);
    EXPECT_LT(more.at("low"), more.at("value"));
    EXPECT_EQ(more.at("exceeds_error"), true);
    // Each network is as far from what predict says as zero; the lines explain the difference of the sums of calls.
    const auto alone =
        json::parse(run_joulecast("predict resnet34 --set batch=2 --format json" + on_device).out)["predictions"][0];
    EXPECT_EQ(alone["time_s"]["value"].get<double>(), after);
    double sum = 0;
    for (const json& line : answer.at("differences")) {
        if (!line.at("time_s_after").is_null()) sum += line.at("time_s_after").get<double>();
        if (!line.at("time_s_before").is_null()) sum -= line.at("time_s_before").get<double>();
    }
    // On a CPU a network is its calls times one factor: that of version 1 is 1 or near it.
    EXPECT_NEAR(sum / (after - before), 1, 0.2);
    EXPECT_TRUE(answer.at("differences")[0].at("energy_j_after").is_null());  // no power is known of that CPU
}

TEST(Diff, IsSmallerThanTheNetworksErrorsBecauseTheseCancel) {
    const json forecast = compared("resnet50 resnet50 --set batch=2 --set-b batch=2" + on_device).at("forecast");
    EXPECT_EQ(forecast.at("difference").at("time_s").at("low"), 0);
    EXPECT_EQ(forecast.at("difference").at("time_s").at("exceeds_error"), false);
    const json& whole = forecast.at("before").at("time_s");
    EXPECT_LT(whole.at("low"), whole.at("value"));
}

TEST(Diff, ShowsCostsInTheTableAndBelowIt) {
    const auto table = run_joulecast("diff resnet18 resnet34" + on_device);
    EXPECT_EQ(table.status, 0) << table.err;
    EXPECT_THAT(table.out, HasSubstr("energy"));
    EXPECT_THAT(table.out, HasSubstr(" more (90 %: "));
    EXPECT_THAT(table.out, HasSubstr("beyond the error"));
    EXPECT_THAT(table.out, HasSubstr("predictor version_1.jcp"));
    const auto csv = run_joulecast("diff resnet18 resnet34 --format csv" + on_device);
    EXPECT_THAT(csv.out, HasSubstr(",has_record,time_s_before,time_s_after,energy_j_before,energy_j_after\n"));
}

TEST(Diff, ComparesAtThePrecisionAskedFor) {
    const json answer = compared("resnet18 resnet34 --precision bf16" + on_device);
    EXPECT_THAT(answer.at("differences")[0].dump(), HasSubstr("bf16["));
    EXPECT_EQ(answer.at("forecast").at("precision"), "bf16");
}

TEST(Diff, TakesItsDeviceOptionsTogether) {
    EXPECT_EQ(run_joulecast("diff resnet18 resnet34 --precision bf16").status, 2);
    EXPECT_EQ(run_joulecast("diff resnet18 resnet34 --host cpp").status, 2);
}

TEST(Diff, ForecastsAtTheClockThatTheDeviceNames) {
    const json slow = compared("resnet18 resnet34 --set batch=64 --device a100@600").at("forecast");
    const json fast = compared("resnet18 resnet34 --set batch=64 --device a100@1400").at("forecast");
    EXPECT_EQ(slow.at("clock_mhz"), 600);
    EXPECT_GT(slow.at("difference").at("time_s").at("value"), fast.at("difference").at("time_s").at("value"));
    const auto alone = json::parse(
        run_joulecast("predict resnet34 --set batch=64 --device a100@600 --format json").out)["predictions"][0];
    EXPECT_EQ(slow.at("after").at("time_s"), alone.at("time_s"));
}

TEST(Diff, ANetworkEqualsItself) {
    const json answer = compared("resnet18 resnet18");
    EXPECT_EQ(answer.at("schema"), "joulecast.diff/1");
    EXPECT_EQ(answer.at("equal"), true);
    EXPECT_EQ(answer.at("differences"), json::array());
    EXPECT_EQ(answer.at("unchanged_calls"), 69);
    const auto table = run_joulecast("diff resnet18 resnet18");
    EXPECT_EQ(table.status, 0);
    EXPECT_THAT(table.out, HasSubstr("the same 69 calls"));
}

TEST(Diff, TheDifferencesExplainTheTotals) {
    const json answer = compared("resnet18 resnet50 --mode training");
    EXPECT_EQ(answer.at("equal"), false);
    for (const std::string key : {"flops", "bytes", "other_flops"}) {
        std::int64_t change = 0;
        for (const json& d : answer.at("differences"))
            change += d.at(key + "_after").get<std::int64_t>() - d.at(key + "_before").get<std::int64_t>();
        EXPECT_EQ(change,
                  answer.at("after").at(key).get<std::int64_t>() - answer.at("before").at(key).get<std::int64_t>())
            << key;
    }
    std::vector<std::int64_t> changes;
    for (const json& d : answer.at("differences"))
        changes.push_back(std::abs(d.at("flops_after").get<std::int64_t>() - d.at("flops_before").get<std::int64_t>()));
    EXPECT_TRUE(std::ranges::is_sorted(changes, std::greater<>()));
}

TEST(Diff, AddedDroppedChangedAndCountedAreTold) {
    const TemporaryFolder folder;
    const std::string before = bag(folder, "before.graph.json",
                                   {{{"operation", "aten::relu(self=f32[8,4])"}, {"count", 3}},
                                    {{"operation", "aten::linear(input=f32[8,4], weight=f32[5,4])"}, {"module", "fc"}},
                                    {{"operation", "aten::tanh(self=f32[8,4])"}}});
    const std::string after = bag(folder, "after.graph.json",
                                  {{{"operation", "aten::relu(self=f32[8,4])"}, {"count", 5}},
                                   {{"operation", "aten::linear(input=f32[8,4], weight=f32[6,4])"}, {"module", "fc"}},
                                   {{"operation", "aten::sigmoid(self=f32[8,4])"}}});
    const json answer = compared(before + " " + after);
    std::map<std::string, json> by_op;
    for (const json& d : answer.at("differences")) by_op[d.at("op")] = d;
    ASSERT_EQ(by_op.size(), 4);
    EXPECT_EQ(by_op["aten::relu"].at("kind"), "count");
    EXPECT_EQ(by_op["aten::relu"].at("calls_before"), 3);
    EXPECT_EQ(by_op["aten::relu"].at("calls_after"), 5);
    EXPECT_EQ(by_op["aten::linear"].at("kind"), "changed");
    EXPECT_EQ(by_op["aten::linear"].at("flops_before"), 2 * 8 * 4 * 5);
    EXPECT_EQ(by_op["aten::linear"].at("flops_after"), 2 * 8 * 4 * 6);
    EXPECT_EQ(by_op["aten::tanh"].at("kind"), "dropped");
    EXPECT_EQ(by_op["aten::tanh"].at("signature_after"), nullptr);
    EXPECT_EQ(by_op["aten::sigmoid"].at("kind"), "added");
    EXPECT_EQ(by_op["aten::sigmoid"].at("signature_before"), nullptr);
    const auto table = run_joulecast("diff " + before + " " + after);
    EXPECT_THAT(table.out, HasSubstr("3 → 5"));
    EXPECT_THAT(table.out, HasSubstr("weight=f32[5,4] → f32[6,4]"));
}

TEST(Diff, BothAreReshapedAndBMayBeOnItsOwn) {
    const json both = compared("resnet18 resnet18 --set batch=4");
    EXPECT_EQ(both.at("equal"), true);
    EXPECT_EQ(both.at("before").at("symbols").at("batch"), 4);
    const json apart = compared("resnet18 resnet18 --set batch=4 --set-b batch=8");
    EXPECT_EQ(apart.at("after").at("flops").get<std::int64_t>(),
              2 * apart.at("before").at("flops").get<std::int64_t>());
    for (const json& d : apart.at("differences")) EXPECT_EQ(d.at("kind"), "changed");
}

TEST(Diff, TopAndCsvKeepTheLargest) {
    const auto ran = run_joulecast("diff resnet18 resnet50 --top 4 --format csv");
    EXPECT_EQ(std::ranges::count(ran.out, '\n'), 5);
    EXPECT_THAT(ran.out, ::testing::StartsWith("kind,op,signature_before,signature_after,calls_before,"));
    EXPECT_THAT(run_joulecast("diff resnet18 resnet50 --top 4").out, HasSubstr("more differences"));
}

TEST(Diff, UnknownOperationsEndWithThreeAndAreNamed) {
    const TemporaryFolder folder;
    const std::string known = bag(folder, "known.graph.json", {{{"operation", "aten::relu(self=f32[8])"}}});
    const std::string unknown = bag(folder, "unknown.graph.json", {{{"operation", "made_up::fizz(self=f32[8])"}}});
    const auto ran = run_joulecast("diff " + known + " " + unknown + " --format json");
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("made_up::fizz (1 call) has no record"));
}

TEST(Diff, WrongUsageEndsWithTwo) {
    for (const char* arguments : {"", "resnet18", "resnet18 resnet18 resnet18", "resnet18 alexnet --set batch=1,2",
                                  "resnet18 alexnet --mode sleeping", "resnet18 alexnet --top 0"})
        EXPECT_EQ(run_joulecast(std::string("diff ") + arguments).status, 2) << arguments;
    EXPECT_EQ(run_joulecast("diff resnet18 no_such_network").status, 1);
}

}  // namespace
}  // namespace joulecast
