#pragma once

#include "joulecast/model/bytes.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

// Sections of .jcp files of devices that start from others (docs/predictor-format.md).

void put_kept(ByteWriter& out, const KeptDevice& kept);
/// Throws FormatError for numbers that cannot be, and for operations that are not sorted or stand there twice.
KeptDevice take_kept(ByteReader& in);
/// Of such a section the device alone, which stands at its beginning.
Device take_device_of_kept(ByteReader& in);

}  // namespace joulecast
