#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Products that matrix units compute where there are any: not those of float32 proper.
bool is_for_matrix_units(const PreparedOperation& operation);
/// Multiplies float32 on them, rounded to TF32.
bool is_in_tf32(const PreparedOperation& operation);

/// Seconds that no kernel is faster than: products within a share of the peak (all of it where float32 sums run at half
/// the rate), and bytes that no cache can hold, before or after, within the bandwidth of the data sheet.
double least_seconds(const PreparedOperation& operation, const Counts& counts, const Device& device);

/// The same of all passes of a call, and what the instructions of eager kernels take (eager_kernels.h).
double least_call_s(const PreparedOperation& operation, const Device& device);

}  // namespace joulecast
