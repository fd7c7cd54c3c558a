#pragma once

#include <istream>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// Reads wall_power.csv: time and energy at the wall of networks on RK3588 boards, from MLPerf Inference's open and
/// closed divisions (docs/data.md maps every column). Each round and system is a session; the engine is the system's
/// ("tflite", "armnn-neon", "armnn-opencl"). A row that stands there again word for word, or is of another processor,
/// scenario or network, is dropped. Throws FormatError "name:line: what" for a line that is no such row, and then adds
/// nothing.
Import import_mlperf_power(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
