#pragma once

#include "joulecast/dataset/dataset.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast {

/// Keeps a GPU busy far from its power cap: the clock under it is the highest that the device is let run at, by its own
/// boost or by whoever set it.
Operation light_operation();

/// What a measurement of the light operation tells; all unknown where the worker reads no clocks.
FoundClocks found_clocks(const Measurement& of_light_operation);

/// What the device stands at now, at `point` without clocks and limit: asks the worker for a light operation. All
/// unknown on a CPU, which has no such clocks, and where the operation cannot be measured.
FoundClocks find_clocks(Supervisor& supervisor, OperatingPoint point, const MeasureSettings& of_sweep);

}  // namespace joulecast
