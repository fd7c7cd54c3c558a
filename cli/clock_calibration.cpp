#include "cli/clock_calibration.h"

#include "cli/verb.h"
#include "joulecast/device/precision.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast::cli {

std::vector<ClockSweep> sweeps_of(const Dataset& dataset, const Device& device) {
    const auto open = [&](const NetworkMeasurement& network) -> Graph {
        if (auto listed = dataset.listed_network(network)) return *std::move(listed);
        const Graph graph = open_model(network.model, shipped_folder("zoo"), network.symbols, network.mode);
        return at_precision(graph, precision_named(network.precision), network.mode, device.kind);
    };
    return clock_sweeps(dataset.networks(device.id), device, open);
}

std::optional<ClockParameters> measured_clocks(const Dataset& dataset, const Device& device) {
    return calibrated_clocks(device, sweeps_of(dataset, device), dataset.idle_points(device.id));
}

}  // namespace joulecast::cli
