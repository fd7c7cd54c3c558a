#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Of a unit, for each element of a kernel that loads no more than one at a time.
inline constexpr double cycles_of_element_alone = 0.65;

/// Over all units at their clock; 0 where the sheet has no units or no clock.
double seconds_of_cycles(double cycles, const Device& device);

/// What instructions, not bytes, hold PyTorch's eager kernels to on NVIDIA's GPUs: no call takes less, however fast the
/// memory. Cycles of a unit, over all units at their clock:
///
///     element-wise calls whose operands differ in sizes, strides or type, so that no thread loads four elements at a
///         time (TensorIterator), and batch norm by given statistics            0.65 for each element
///     the latter in bf16, which PyTorch's own kernel computes                  160 for each plane, where that is more
///     copies into another order                                                0.65 for each element
///     cat of tensors that do not lie plainly                                   1.1 for each element
///     gelu of 16 bits, vectorised                                              0.33 for each element
///     layer norm                                  260 for each row and 0.41 for each of its elements
///     pooling by windows                          (9 + places of the window) / 4.2 for each result
///     its gradient, of max_pool2d                 3.1 for each element of the input
///     averages over whole planes                  40 for each plane and 0.35 for each of its elements
///     depthwise convolutions of images whose channels lie last (cuDNN)         0.053 for each place of the window
///
/// Measured on an H100 and an H200 (datasets/README.md), which are one chip; 7,440 layer norms on five older cards took
/// 1.4 times as long and more. Pooling on an A30 takes what these say within 15 % in the median (docs/decisions/0041).
/// 0 for all other calls and for devices whose sheet has no units or no clock.
double least_eager_kernel_s(const PreparedOperation& call, const Device& device);

}  // namespace joulecast
