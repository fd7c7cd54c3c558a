#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// The graph of a measured network: at its symbols, mode and precision. May throw Error.
using OpenMeasured = std::function<Graph(const NetworkMeasurement& network)>;

struct MeasuredNetworks {
    std::vector<TrainingNetwork> networks;
    /// Model and why its graph could not be had: such rows are left out, and the caller says so.
    std::vector<std::pair<std::string, std::string>> left_out;
};

/// The usable rows at the setting (threads, math), from every host, each with its graph. Repeated measurements of one
/// network from one host become one with the median of their times; of those at several clocks, the ones at the highest
/// count.
MeasuredNetworks measured_networks(std::span<const NetworkRow> rows, const OperatingPoint& setting,
                                   const OpenMeasured& open);

}  // namespace joulecast
