#include "cli/fleet_next.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "joulecast/dataset/dataset.h"
#include "tests/cli/run_command.h"
#include "tests/train/synthetic.h"

namespace joulecast::cli {
namespace {

using namespace joulecast::testing;

/// A device's plan with lines of these gains, each of which costs so many seconds.
NextPlan plan(double uncertainty, const std::vector<double>& gains, double cost_s) {
    NextPlan plan;
    plan.uncertainty = uncertainty;
    for (const double gain : gains) {
        NextLine line;
        line.next.gain = gain;
        line.next.cost_s = cost_s;
        plan.lines.push_back(line);
    }
    return plan;
}

TEST(FleetNext, GivesEachSecondToTheDeviceThatGainsMost) {
    // Per second: a removes 0.2 * (0.5, 0.1) = 0.1, 0.02; b removes 0.4 * (0.2, 0.15, 0.01) / 2 = 0.04, 0.03, 0.002.
    const std::vector<NextPlan> plans{plan(0.2, {0.5, 0.1}, 1), plan(0.4, {0.2, 0.15, 0.01}, 2)};
    const auto allotted = allot(plans, 5);
    EXPECT_EQ(allotted[0].lines.size(), 1u);
    EXPECT_EQ(allotted[1].lines.size(), 2u);
    EXPECT_DOUBLE_EQ(allotted[0].cost_s + allotted[1].cost_s, 5);
    EXPECT_DOUBLE_EQ(allotted[1].removed, 0.4 * 0.35);
    // What no longer fits leaves room for what does.
    const auto shorter = allot(plans, 4);
    EXPECT_EQ(shorter[0].lines.size(), 2u);
    EXPECT_EQ(shorter[1].lines.size(), 1u);
    EXPECT_TRUE(allot({}, 5).empty());
}

TEST(FleetNext, WritesAPlanForEachDevice) {
    const TemporaryFolder folder;
    {
        Dataset dataset(folder.file("all.db"));
        const std::vector<Graph> graphs{synthetic_graph("resnet18", 2), synthetic_graph("alexnet", 2)};
        Device second = synthetic_cpu();
        second.id = "second";
        for (const Device& device : {synthetic_cpu(), second}) {
            dataset.insert(device);
            for (OperationRow row : synthetic_rows(graphs)) {
                row.measurement.asked.device = row.measurement.real.device = device.id;
                dataset.insert(row.measurement, row.provenance);
            }
        }
    }
    const Ran ran = run_joulecast("fleet what-next --db " + folder.file("all.db") + " --node-hours 0.005 --plans " +
                                  folder.file("next") + " --for mobilenet_v2 --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    double seconds = 0;
    ASSERT_EQ(answer.at("devices").size(), 2u);
    for (const auto& device : answer.at("devices")) {
        seconds += device.at("node_s").get<double>();
        EXPECT_GT(device.at("operations"), 0);
        EXPECT_LT(device.at("uncertainty_after"), device.at("uncertainty_before"));
        EXPECT_TRUE(std::filesystem::exists(device.at("plan").get<std::string>()));
    }
    EXPECT_LE(seconds, 0.005 * 3600);
    EXPECT_EQ(run_joulecast("fleet what-next --node-hours 0 --db " + folder.file("all.db")).status, 2);
}

}  // namespace
}  // namespace joulecast::cli
