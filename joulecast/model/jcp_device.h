#pragma once

#include <string>

#include "joulecast/device/device.h"
#include "joulecast/model/bytes.h"

namespace joulecast {

/// A device and a setting as they stand in a .jcp file. docs/predictor-format.md. Reading throws FormatError for what
/// cannot be.
void put(ByteWriter& out, const Device& device);
Device take_device(ByteReader& in);

/// The whole data sheet, its figures by name; one that this program does not know is passed over.
void put_sheet(ByteWriter& out, const Device& device);
void take_sheet(ByteReader& in, Device& device);

/// The clocks that its driver lists.
void put_core_clocks(ByteWriter& out, const Device& device);
void take_core_clocks(ByteReader& in, Device& device);

void put(ByteWriter& out, const OperatingPoint& point);
OperatingPoint take_point(ByteReader& in, const std::string& device);

}  // namespace joulecast
