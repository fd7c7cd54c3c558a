#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/predict/train.h"

namespace joulecast {

/// Opens a model by the name a network was measured under, at those symbols, for that mode. May throw Error.
using OpenModel = std::function<Graph(const std::string& model, const SymbolValues& symbols, Mode mode)>;

struct MeasuredNetworks {
    std::vector<TrainingNetwork> networks;
    /// Model and why its graph could not be had: such rows are left out, and the caller says so.
    std::vector<std::pair<std::string, std::string>> left_out;
};

/// The usable rows at the setting (threads, math, host) of a device of that kind, each with its graph at the measured
/// symbols, precision and mode. Repeated measurements of one network become one with the median of their times.
MeasuredNetworks measured_networks(std::span<const NetworkRow> rows, const OperatingPoint& setting, Device::Kind kind,
                                   const OpenModel& open);

}  // namespace joulecast
