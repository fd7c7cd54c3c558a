#pragma once

#include <optional>

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// What PyTorch's kernels take until one block of threads has gone through its row, however fast memory is and however
/// many units there are: no call takes less. Cycles of the clock, measured on an H100 and an H200 (datasets/README.md)
/// and carried to NVIDIA's other cards by their boost clock:
///
///     layer norm                                   4,800 and 3.4 for each element of a row
///     RMS norm                                     4,800 and 1.6
///     softmax of rows of more than 1,024           2,500 and 0.53 (log_softmax in 16 bits 0.36); for all rows over all
///                                                  units the latter again
///     argmax and argmin                            4,000 and 0.6
///     cumulative sums                              7,500 and 9.5
///     sums of more than 16,384 numbers to one      16,000
///
/// 0 for all other calls, for other makers' devices, and where the sheet has no clock.
double row_in_turn_s(const PreparedOperation& call, const Device& device);

/// A layer norm over the last of more than three dimensions as the same over three: its kernel knows rows alone, and
/// those who were measured (NeuSight's) had three. Absent for all other calls.
std::optional<Operation> in_three_dimensions(const Operation& operation);

}  // namespace joulecast
