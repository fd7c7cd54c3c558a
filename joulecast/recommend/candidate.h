#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "joulecast/device/device.h"
#include "joulecast/forecast/relative_cost.h"
#include "joulecast/graph/memory_format.h"
#include "joulecast/graph/operation.h"
#include "joulecast/units/quantity.h"

namespace joulecast {

/// One way of running a network, and what a run of it costs then.
struct Candidate {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    OperatingPoint asked;  ///< what the device is set to; NaN: left as it comes
    OperatingPoint real;   ///< what it runs at: a lower clock where a power limit holds it
    /// The device's highest clock and its power limit as sold: what happens where nobody sets anything.
    bool is_default = false;
    double highest_clock_mhz = unknown;  ///< the one that the device comes with; NaN: its clocks are not known
    Mode mode = Mode::inference;
    std::string precision = "fp32";
    MemoryFormat memory_format = MemoryFormat::contiguous;
    int threads = 0;  ///< that compute, on a CPU; 0: a GPU's, or not known
    std::map<std::string, std::int64_t> symbols;
    double samples = 1;       ///< in a run: the batch
    double tokens = unknown;  ///< in a run, of networks over sequences

    Estimate<Seconds> time;  ///< of a run, as all costs here
    Estimate<Joules> energy;
    Estimate<Watts> power;
    /// Parameters, inputs and the peak above them; on a GPU what the allocator takes for them (physics/memory_fit.h).
    Estimate<Bytes> memory;
    RelativeCost over_default;             ///< over the same run on the device as nobody sets it
    double device_memory = unknown;        ///< bytes that the device has
    std::string overflow;                  ///< how much is too much, and what takes most; empty where it fits
    double device_per_hour = unknown;      ///< price of the device
    double lowest_clock_mhz = unknown;     ///< choices go no lower on this device; NaN: its clocks are not known
    double reference_clock_mhz = unknown;  ///< of the forecast that this one was carried over from
    /// Standard deviations of log time and log energy that carrying over has for a ratio of e between the clocks.
    double time_spread = unknown;
    double energy_spread = unknown;
    double guessed_host_pace = unknown;  ///< as in NetworkForecast
    std::string limited_by;              ///< "device", "host", "power_cap"
    bool lower_bound = false;            ///< operations without a record are in it

    /// Whether a clock has to be set: a power limit alone leaves it as it comes.
    bool sets_clock() const { return asked.sm_clock_mhz < highest_clock_mhz || asked.sm_clock_mhz > highest_clock_mhz; }
};

}  // namespace joulecast
