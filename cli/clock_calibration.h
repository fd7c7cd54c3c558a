#pragma once

#include <optional>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/predict/clock_sweeps.h"

namespace joulecast::cli {

/// What the database has of a device over its clocks: networks by their list of calls, else by the model of their name,
/// else without operations.
std::vector<ClockSweep> sweeps_of(const Dataset& dataset, const Device& device);

/// How the device's time and power follow its clocks, fitted to those measured at several; absent without any.
std::optional<ClockParameters> measured_clocks(const Dataset& dataset, const Device& device);

}  // namespace joulecast::cli
