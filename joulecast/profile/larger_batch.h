#pragma once

#include "joulecast/graph/operation.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

/// What runs out of memory does so at larger batches too.
/// `larger` is `smaller` with one or more tensors larger in dimension 0 and nothing else different.
bool is_larger_batch(const Operation& smaller, const Operation& larger);
/// `larger` is the same network at larger symbols, none smaller.
bool is_larger_batch(const NetworkMeasurement& smaller, const NetworkMeasurement& larger);

}  // namespace joulecast
