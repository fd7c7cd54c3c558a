#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/device/device_table.h"

namespace joulecast {

/// What --device names: "cpu" is this machine, a name that ends in .json a data sheet in that file, everything else a
/// device of known_devices() by id or name, or else of `stored`, those of a database, by id. Throws UsageError listing
/// near names, and Error for a file that is no sheet.
DataSheet device_argument(const std::string& text, std::span<const Device> stored = {});

/// "h100 is h100-sxm, NVIDIA H100 80GB HBM3" where the text is another name of the device than its id; else empty.
std::string meant_by(const std::string& text, const Device& device);

/// This machine's processor, with /proc and /sys as the source of what is known of it.
DataSheet this_machine();

}  // namespace joulecast
