#pragma once

#include <string>
#include <string_view>

#include "joulecast/device/device.h"

namespace joulecast {

/// How long a CPU takes to issue calls to a GPU, over the time that another one takes. One thread issues, with data
/// that caches hold: the time goes with instructions per cycle and the highest clock of a single core.
struct IssuePace {
    double factor = 1;  ///< of the time; above 1: slower
    double sigma = 0;   ///< standard deviation of its logarithm
    friend bool operator==(const IssuePace&, const IssuePace&) = default;
};

/// Integer work per cycle of a core of that architecture over that of a Skylake server core, from what vendors say of
/// each generation over the one before (docs/devices.md); NaN for an architecture that is not listed.
double work_per_cycle(std::string_view architecture);

/// Of `cpu` over `measured_from`; nullptr: nobody wrote down which CPU that was, and it is taken for a server core of
/// these years. The spread is 20 % where both CPUs are known, twice as wide where one of them is a guess. Throws Error
/// for a CPU without a clock.
IssuePace issue_pace(const Device& cpu, const Device* measured_from);

}  // namespace joulecast
