#pragma once

#include "joulecast/device/device.h"

namespace joulecast {

/// Memory with a bus this wide stands in stacks beside the chip, as on cards for computing: on others chips of memory
/// stand around it, with 512 bits at most.
inline bool has_stacked_memory(const Device& device) {
    return device.memory_bus_bits >= 1024;
}

}  // namespace joulecast
