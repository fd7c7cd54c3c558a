#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "joulecast/meter/open_meter.h"

namespace joulecast::cli {

/// One line of `joulecast doctor`.
struct Finding {
    /// limited: the main job works, something is less exact or not offered.
    enum class State { works, limited, missing, broken };

    std::string part;
    State state = State::works;
    std::string found;
    std::string what_to_do;  ///< the exact command where there is one; empty if it works
};

/// First the meter that measures the processor when none is named ("energy meter"), then one line for each meter of the
/// machine ("meter rapl"): what it covers, or why it cannot be read.
std::vector<Finding> energy_meters(const MeterRequest& machine);

/// Whether `root`/sys/devices/system/cpu holds the clock still enough for measuring.
Finding clock_governor(const std::filesystem::path& root);

/// Which NVIDIA driver answers, and the cards it has.
Finding gpu_driver(const std::string& nvml_library);

/// Whether this user may lock the cards' clocks, and whether an earlier measurement left any of them locked.
Finding gpu_clocks(const std::string& nvml_library);

}  // namespace joulecast::cli
