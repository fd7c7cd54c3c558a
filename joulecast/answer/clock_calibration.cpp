#include "joulecast/answer/clock_calibration.h"

#include <algorithm>
#include <span>

#include "joulecast/answer/shipped.h"
#include "joulecast/device/device_table.h"
#include "joulecast/device/precision.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast {
namespace {

/// Where the rows of networks come from, as origin_of() takes it.
std::vector<OperationRow> sources_of(std::span<const NetworkRow> networks) {
    std::vector<OperationRow> sources(networks.size());
    for (std::size_t i = 0; i < networks.size(); ++i) sources[i].provenance = networks[i].provenance;
    return sources;
}

/// Whether a device asked for is the one of that id, by any of its names.
bool names(const std::string& asked, const std::string& id) {
    const DataSheet* sheet = known_devices().find(asked);
    return asked == id || (sheet && sheet->device.id == id);
}

}  // namespace

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

std::vector<SweptDevice> swept_devices(const Dataset& dataset, std::vector<std::string>& asked) {
    std::vector<SweptDevice> swept;
    const bool wants_all = asked.empty();
    for (const Device& stored : dataset.devices()) {
        const auto place = std::ranges::find_if(asked, [&](const std::string& id) { return names(id, stored.id); });
        if (!wants_all && place == asked.end()) continue;
        if (dataset.has_operations(stored.id)) continue;
        const Device device = with_known_figures(stored);
        const auto networks = dataset.networks(stored.id);
        const auto clocks = networks.empty() ? std::nullopt : measured_clocks(dataset, device);
        if (!clocks) continue;
        OperatingPoint setting;
        setting.math = networks.front().measurement.asked.math;
        setting.threads = std::max(1, networks.front().measurement.asked.threads);
        swept.push_back({device, setting, *clocks, sources_of(networks)});
        if (!wants_all) asked.erase(place);
    }
    return swept;
}

}  // namespace joulecast
