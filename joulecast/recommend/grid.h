#pragma once

#include <span>
#include <vector>

#include "joulecast/device/device.h"

namespace joulecast {

/// The clocks and power limits that are tried on every device, each clock with each limit.
struct Grid {
    bool all_clocks = true;                   ///< that the device can be asked for
    std::vector<double> clocks_mhz = {};      ///< else these, each taken to the nearest that the device has
    std::vector<double> power_limits_w = {};  ///< none: as it comes
};

/// The grid on a device that can be asked for the clocks of `table_mhz` (ascending): first the default, its highest
/// clock and the limit as it comes; then the others, each once. A clock beyond the table stays as it is asked for.
/// Without a table the device as it comes, with each power limit.
std::vector<OperatingPoint> grid_points(std::span<const double> table_mhz, const Grid& grid);

}  // namespace joulecast
