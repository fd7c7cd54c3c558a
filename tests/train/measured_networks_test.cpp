#include "joulecast/train/measured_networks.h"

#include <gmock/gmock.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

NetworkRow row(const std::string& model, std::int64_t batch, double time_s) {
    NetworkRow row;
    row.measurement.model = model;
    row.measurement.symbols = {{"batch", batch}};
    row.measurement.asked.device = row.measurement.real.device = "t4";
    row.measurement.time.mean_s = row.measurement.time.median_s = time_s;
    return row;
}

/// A graph that says for which measurement it was opened.
Graph named(const NetworkMeasurement& network) {
    Graph graph;
    graph.name = network.model + " " + std::to_string(network.symbols.at("batch")) + " " + network.precision;
    graph.mode = network.mode;
    return graph;
}

TEST(MeasuredNetworks, OpensEachNetworkOnceAndTakesTheMedianOfItsRepeats) {
    const std::vector<NetworkRow> rows = {row("a", 8, 0.1), row("a", 8, 0.3), row("a", 16, 0.5), row("a", 8, 0.2)};
    const auto found = measured_networks(rows, rows.front().measurement.real, &named);
    ASSERT_EQ(found.networks.size(), 2U);
    EXPECT_EQ(found.networks.at(0).graph.name, "a 8 fp32");
    EXPECT_EQ(found.networks.at(0).measurement.time.median_s, 0.2);
    EXPECT_EQ(found.networks.at(1).graph.name, "a 16 fp32");
}

TEST(MeasuredNetworks, TellsModesPrecisionsAndHostsApartAndLeavesOtherSettingsOut) {
    std::vector<NetworkRow> rows = {row("a", 8, 0.1), row("a", 8, 0.2), row("a", 8, 0.3),
                                    row("a", 8, 0.4), row("a", 8, 0.5), row("a", 8, 0.6)};
    rows.at(1).measurement.mode = Mode::training;
    rows.at(2).measurement.precision = "bf16";
    rows.at(3).measurement.real.host = Host::graph;
    rows.at(4).measurement.real.threads = 7;
    rows.at(5).measurement.real.math = Math::tf32;
    std::vector<std::string> opened;
    for (const TrainingNetwork& network : measured_networks(rows, rows.front().measurement.real, &named).networks)
        opened.push_back(std::string(name(network.graph.mode)) + " " + network.graph.name + " " +
                         std::string(name(network.measurement.real.host)));
    EXPECT_THAT(opened, ::testing::UnorderedElementsAre("inference a 8 fp32 cpp", "inference a 8 fp32 graph",
                                                        "inference a 8 bf16 cpp", "training a 8 fp32 cpp"));
}

// A file may have changed since it was measured.
TEST(MeasuredNetworks, LeavesKernelsOfAnotherGraphOut) {
    std::vector<NetworkRow> rows = {row("a", 8, 0.1), row("b", 8, 0.2)};
    rows.at(0).measurement.kernels = {{"Conv", {0, 1}}};
    rows.at(1).measurement.kernels = {{"Conv", {0, 2}}};
    const auto open = [](const NetworkMeasurement& network) {
        Graph graph = named(network);
        graph.nodes.resize(2);
        return graph;
    };
    const auto found = measured_networks(rows, rows.front().measurement.real, open);
    ASSERT_EQ(found.networks.size(), 1U);
    EXPECT_EQ(found.networks.at(0).measurement.model, "a");
    EXPECT_THAT(found.left_out, ElementsAre(Pair("b", ::testing::HasSubstr("the graph has 2 nodes"))));
}

TEST(MeasuredNetworks, KeepsWhichVersionMeasured) {
    NetworkRow measured = row("a", 8, 0.1);
    measured.provenance.framework = "onnxruntime 1.32.0";
    const std::vector<NetworkRow> rows{measured};
    EXPECT_EQ(measured_networks(rows, rows.front().measurement.real, &named).networks.at(0).framework,
              "onnxruntime 1.32.0");
}

TEST(MeasuredNetworks, NamesThoseWhoseGraphCannotBeHad) {
    const std::vector<NetworkRow> rows = {row("a", 8, 0.1), row("lost", 8, 0.2)};
    const auto open = [](const NetworkMeasurement& network) {
        if (network.model == "lost") throw Error("no such file");
        return named(network);
    };
    const auto found = measured_networks(rows, rows.front().measurement.real, open);
    EXPECT_EQ(found.networks.size(), 1U);
    EXPECT_THAT(found.left_out, ElementsAre(Pair("lost", "no such file")));
}

}  // namespace
}  // namespace joulecast
