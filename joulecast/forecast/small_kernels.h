#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Seconds that the kernel of a small call takes at most: what other cards' single calls between two events tell of it
/// is mostly the launch. Cycles of the clock, measured on an H100 and an H200 (datasets/README.md) and carried to
/// NVIDIA's other cards by their boost clock:
///
///     element-wise calls whose operands lie alike  2,400, and 1,600 more where their elements fill the card
///                                                  (20,000 and more), and their bytes by the bandwidth
///     convolutions of images of one place, as in squeeze-and-excitation
///                                                  8,500, 18 for each channel of the input and 6 for each of the
///                                                  result
///
/// Infinite for all others, where bytes take more than four times those cycles, with a backward pass, for other makers'
/// devices, and where the sheet has no clock.
double most_small_kernel_s(const PreparedOperation& call, const Device& device);

}  // namespace joulecast
