#pragma once

#include <span>
#include <vector>

#include "joulecast/answer/loaded_device.h"
#include "joulecast/dataset/dataset.h"

namespace joulecast {

/// Core clocks in MHz, ascending, that these measurements of one device were asked for and carried out at: the device
/// has them, whatever steps its architecture usually has.
std::vector<double> measured_clocks_mhz(std::span<const OperationRow> operations, std::span<const NetworkRow> networks);

/// Clocks to choose among: those that the device's driver told when it was measured; else, where its database has
/// measurements at two clocks or more, those and the highest clock of all; else the steps of its architecture,
/// clock_table_mhz().
std::vector<double> choosable_clocks_mhz(const LoadedDevice& device);

}  // namespace joulecast
