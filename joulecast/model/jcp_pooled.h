#pragma once

#include "joulecast/model/bytes.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// A model over devices as it stands in a .jcp file, but for its family models, which follow in sections of their own.
/// docs/predictor-format.md.
void put_pooled(ByteWriter& out, const PooledModel& pooled);

/// Reads one; throws FormatError for numbers that cannot be.
PooledModel take_pooled(ByteReader& in);

}  // namespace joulecast
