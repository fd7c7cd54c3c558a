#pragma once

#include <string>
#include <vector>

#include "joulecast/profile/plan.h"
#include "joulecast/worker/protocol.h"

namespace joulecast {

/// The texts of the command line, read apart from any device: "current", "all", "900,1200", "600:1440:120" (from, to,
/// step; in lists too). Throws UsageError naming what it does not understand.
struct ClockWish {
    bool all = false;
    std::vector<double> sm_clocks_mhz;           ///< neither these nor all: as they are
    std::vector<double> single_mhz;              ///< of these, those that are no step of a range
    std::vector<double> power_limits_w;          ///< none: as it is
    std::vector<double> memory_clocks_mhz = {};  ///< none: as it is

    /// Anything that needs the right to change the device.
    bool changes() const {
        return all || !sm_clocks_mhz.empty() || !power_limits_w.empty() || !memory_clocks_mhz.empty();
    }
};
ClockWish parse_clock_wish(const std::string& clocks, const std::string& power_limits,
                           const std::string& memory_clocks = "");

/// Every clock with every memory clock and every limit on that worker's device. A step of a range is taken to the
/// nearest clock that the device has; those that become the same are one. Throws Error when the worker may not set them
/// (with its reason and what to do), when it does not say which clocks there are, for a single clock that the device
/// does not have (naming the nearest), and for a clock or limit outside of its range. Which memory clocks there are no
/// worker tells: one that the device does not have it refuses itself.
std::vector<ClockSetting> clock_settings(const ClockWish& wish, const protocol::Capabilities& worker);

}  // namespace joulecast
