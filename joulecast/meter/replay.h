#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "joulecast/meter/meter.h"
#include "joulecast/meter/time_source.h"

namespace joulecast {

/// A recorded trace: CSV with a header naming time_s and power_w or energy_j (or both; other columns are passed over,
/// so that a power log can be replayed), or a log of nvidia-smi (smi_log.h) of one GPU. Times rise, energy never falls;
/// lines without a value are left out.
struct Trace {
    std::vector<double> power_time_s;  ///< the first row of the file is at 0
    std::vector<double> power_w;
    std::vector<double> energy_time_s;
    std::vector<double> energy_j;  ///< since the first row
    double length_s = 0.0;
};

/// Throws FormatError; `name` is the file's in its message.
Trace read_trace(std::istream& text, const std::string& name);

struct ReplaySettings {
    TimeSource now_s;        ///< empty: the machine's steady clock. The trace starts when the meter is made.
    double renewal_s = 0.0;  ///< a reading renews itself this often; 0: it always tells the present
    bool repeat = false;     ///< begins again at the end; otherwise the meter is lost there
    std::string name = "replay";
};

/// Plays a trace back as a meter that tells the power of the last row before now, or the energy between the rows around
/// now. For tests, and for looking at a recorded run again.
std::unique_ptr<Meter> replay_meter(Trace trace, ReplaySettings settings);

/// `--meter replay:FILE`.
FoundMeter open_replay(const std::filesystem::path& file, ReplaySettings settings = {});

}  // namespace joulecast
