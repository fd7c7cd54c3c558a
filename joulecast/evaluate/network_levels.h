#pragma once

#include <span>

#include "joulecast/device/device.h"
#include "joulecast/physics/kernel_levels.h"

namespace joulecast {

/// What networks of known kernels teach of a device.
struct NetworkLevels {
    KernelLevels time;
    PowerLevels power;
    double x = 1;              ///< the clock of the middle one of the networks
    double sigma_time = 0.25;  ///< standard deviations of the log errors of networks whose group was left out
    double sigma_power = 0.25;
};

/// Levels fitted to all networks; sigmas such that nine tenths of them lie inside their 90 % intervals when their group
/// is left out, as they are of fewer than ten networks. Throws Error for none.
NetworkLevels network_levels(std::span<const ListedWorkload> networks, const Device& device,
                             const ClockParameters& parameters);

}  // namespace joulecast
