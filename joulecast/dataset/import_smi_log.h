#pragma once

#include <cstdint>
#include <istream>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// What ran while the log was written; the log itself does not tell.
struct LoggedRun {
    std::string device;  ///< its id
    std::string model;
    std::map<std::string, std::int64_t> symbols;
    Mode mode = Mode::inference;
    std::string precision = "fp32";
    Host host = Host::python;
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();  ///< asked for; NaN: as it was
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double power_limit_w = std::numeric_limits<double>::quiet_NaN();
    std::int64_t calls = 0;  ///< iterations from the first to the last line of load
    std::optional<int> gpu;  ///< of a log with several: the column `index`
};

/// Reads the log that nvidia-smi wrote beside one run (meter/smi_log.h), plain
/// or gzip, and makes one network measurement of it by the thesis' equations
/// (measure/thesis_method.h): the run lasts from the first line with
/// utilisation to the last one (from the first line to the last where the log
/// has no utilisation), lines that are three standard deviations off do not
/// count, and energy is mean power times that time. Rows of the counts are
/// lines of the log. Throws FormatError for a log that cannot be, Error for a
/// run that does not fit it.
Import import_smi_log(Dataset& dataset, std::istream& input, const std::string& name, const LoggedRun& run);

}  // namespace joulecast
