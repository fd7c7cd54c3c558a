#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Products that matrix units compute where there are any: not those of float32 proper.
bool is_for_matrix_units(const PreparedOperation& operation);
/// Multiplies float32 on them, rounded to TF32.
bool is_in_tf32(const PreparedOperation& operation);

/// FLOP per second of such products that no kernel passes: a share of the peak, all of it where float32 sums run at
/// half the rate.
double most_flop_per_s(const Device& device, Dtype dtype, Math math);

/// Whether TF32 brings more arithmetic than float32. On GeForce cards the sheet gives both the same rate, of which
/// float32 is told as sustained.
bool gains_by_tf32(const Device& device);

/// Whether products whose rows have an odd number of such elements run by kernels that load one element at a time.
bool takes_odd_rows_slowly(Dtype dtype, const Device& device);
/// FLOP per second that these kernels reach on the device.
double odd_rows_flop_per_s(const Device& device);

/// Seconds that no kernel is faster than: products within most_flop_per_s() and odd_rows_flop_per_s(), weights that no
/// cache holds within 0.93 of the bandwidth, and all bytes that no cache can hold, before or after, within the
/// bandwidth of the data sheet.
double least_seconds(const PreparedOperation& operation, const Counts& counts, const Device& device);

/// The same of all passes of a call, and what the instructions of eager kernels take (eager_kernels.h).
double least_call_s(const PreparedOperation& operation, const Device& device);

}  // namespace joulecast
