#pragma once

#include "joulecast/device/device.h"

namespace joulecast {

/// Made on a node of 5 nm or below; one whose node is not known counts as older.
inline bool is_small_node(const Device& device) {
    return device.process_nm <= 5;
}

/// What float32 arithmetic draws at a rate on the device's node, over what it draws at that rate on older nodes: 0.65
/// on small ones, found where SustainedRule was (sustained_peak.h).
inline double node_power_share(const Device& device) {
    return is_small_node(device) ? 0.65 : 1;
}

}  // namespace joulecast
