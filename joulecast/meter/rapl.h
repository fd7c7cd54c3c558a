#pragma once

#include <filesystem>

#include "joulecast/meter/meter.h"
#include "joulecast/meter/time_source.h"

namespace joulecast {

/// The energy counters of x86 processors, as Linux shows them below `root`/sys/class/powercap (Intel since Sandy
/// Bridge, AMD since Zen by the same driver): "rapl:package-0+package-0/dram".
///
/// Packages are added up, and memory where it has a counter of its own. The domains of cores and of the graphics unit
/// are parts of their package and psys holds all of them, so they are never added; psys alone serves where there is no
/// package. Each counter's wrap is taken out; they wrap after minutes (262 kJ on servers), so read more often than
/// that.
FoundMeter open_rapl(const std::filesystem::path& root = "/", TimeSource now_s = {});

}  // namespace joulecast
