#pragma once

#include <optional>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/train/clock_sweeps.h"

namespace joulecast {

/// What the database has of a device over its clocks: networks by their list of calls, else by the model of their name,
/// else without operations.
std::vector<ClockSweep> sweeps_of(const Dataset& dataset, const Device& device);

/// How the device's time and power follow its clocks, fitted to those measured at several; absent without any.
std::optional<ClockParameters> measured_clocks(const Dataset& dataset, const Device& device);

/// A device of which the database has workloads over clocks or power limits, but no operation.
struct SweptDevice {
    Device device;
    OperatingPoint setting;  ///< of its workloads
    ClockParameters clocks;
    std::vector<OperationRow> sources;  ///< what its rows say of where they come from
};

/// Such devices, those asked for alone where some are; what then remains in `asked` was measured by operations or not
/// at all.
std::vector<SweptDevice> swept_devices(const Dataset& dataset, std::vector<std::string>& asked);

}  // namespace joulecast
