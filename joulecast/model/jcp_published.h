#pragma once

#include "joulecast/model/bytes.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// The section of a predictor file with the regressions of a published method; since version 5
/// (docs/predictor-format.md). Throws Error for a regression of more columns than a tree of the format can name.
void put_published(ByteWriter& out, const PublishedModel& model);
/// Throws FormatError for a method that this program does not know and numbers that cannot be.
PublishedModel take_published(ByteReader& in);

}  // namespace joulecast
