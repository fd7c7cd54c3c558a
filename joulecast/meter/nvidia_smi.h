#pragma once

#include <string>

#include "joulecast/meter/meter.h"
#include "joulecast/meter/time_source.h"

namespace joulecast {

/// A card's power as a running `nvidia-smi -lms 10` prints it, for where NVML cannot be loaded: power.draw.instant, or
/// power.draw where the driver does not have that (on Ampere and later it is the mean of about a second). Readings are
/// up to 10 ms old. The program is not started again when it ends: then the meter is lost, with its last words.
///
/// `gpu`: NVML's index, UUID or PCI address. `program`: what is run, one word for the shell to find.
FoundMeter open_nvidia_smi(const std::string& gpu, const std::string& program = "nvidia-smi", TimeSource now_s = {});

}  // namespace joulecast
