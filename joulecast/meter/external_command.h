#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/meter/meter.h"
#include "joulecast/meter/time_source.h"

namespace joulecast {

/// One line of an external meter; NaN: not in the line.
struct MeterLine {
    double time_s = std::numeric_limits<double>::quiet_NaN();  ///< by the meter's own clock, from any start
    double power_w = std::numeric_limits<double>::quiet_NaN();
    double energy_j = std::numeric_limits<double>::quiet_NaN();
};

/// "12.5" (watts), "watts 12.5", "joules 1034.2", both, each with "time 17.25" (seconds) in front or behind; fields
/// apart by blanks. Nothing for a blank line and for one that begins with "#". Throws FormatError.
std::optional<MeterLine> parse_meter_line(std::string_view line);

/// A wall meter, or any other: a shell command that goes on printing a line for each reading, flushed, the first within
/// ten seconds. What it prints first decides whether it counts energy. Joules never fall. Where lines have a time of
/// their own, readings are placed by it; otherwise they count from when they are looked at.
FoundMeter open_external_command(const std::string& command, TimeSource now_s = {});

}  // namespace joulecast
