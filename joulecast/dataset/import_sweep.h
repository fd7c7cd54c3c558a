#pragma once

#include <istream>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// Reads anybody's table of a workload over clocks and power limits, plain or
/// gzip: columns device, workload and time_s, and where they are known sm_mhz,
/// mem_mhz, power_limit_w, power_w, energy_j, symbols ("batch=8;seq=128"),
/// mode, precision, host. A row becomes a network of the workload's name; if
/// that is a model that joulecast can open, forecasts find its graph by it. The
/// session is the file's name without its folder, so that a table that grew
/// adds what is new. Throws FormatError "name:line: what" for the first wrong
/// row, and then adds nothing.
Import import_sweep(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
