#pragma once

#include <limits>
#include <memory>
#include <string>

#include "joulecast/error.h"

namespace joulecast {

/// What a meter is, once it has been opened; NaN: not known.
struct MeterFacts {
    std::string name;            ///< "nvml-counter", "rapl:package-0+package-1"; stored with every row
    std::string covers;          ///< "the whole card", "CPU packages, without memory"
    bool counts_energy = false;  ///< readings carry joules; otherwise watts, to be integrated over time
    double period_s = std::numeric_limits<double>::quiet_NaN();    ///< its value renews itself this often (tau)
    double gain_error = std::numeric_limits<double>::quiet_NaN();  ///< systematic, as a share of the value
    double duty = 1.0;  ///< share of each period that its sensor looks at: a quarter on A100 and H100
};

/// One look at a meter.
struct MeterReading {
    double time_s = std::numeric_limits<double>::quiet_NaN();    ///< steady clock, in the middle of the call
    double energy_j = std::numeric_limits<double>::quiet_NaN();  ///< since some moment in the past; never decreases
    double power_w = std::numeric_limits<double>::quiet_NaN();   ///< as the meter reports it now
};

/// The meter stopped answering (a card fell off the bus, a file vanished): what is measured goes on without energy.
class MeterLost : public Error {
  public:
    using Error::Error;
};

/// A source of joules or watts. One file in this folder for each kind; opening one answers with a FoundMeter.
class Meter {
  public:
    virtual ~Meter() = default;
    virtual const MeterFacts& facts() const = 0;
    /// Throws MeterLost.
    virtual MeterReading read() = 0;
};

/// A meter, or why there is none and what would help, as a sentence for the user.
struct FoundMeter {
    std::unique_ptr<Meter> meter;
    std::string missing_reason;
    std::string remedy = {};  ///< the exact command that would help, where there is one; the reason names it too
};

}  // namespace joulecast
