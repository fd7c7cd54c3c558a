#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Of a unit, for each element of a kernel that loads no more than one at a time.
inline constexpr double cycles_of_element_alone = 0.65;

/// Of an element-wise call: all operands but constants lie alike and are of one type, so that threads load several
/// elements at a time.
bool is_vectorised(const Operation& operation);

/// With statistics that are given, batch norm scales each element, in one pass: no reduction, unlike its family.
bool is_scaling(const Operation& operation);

/// What PyTorch's kernel takes that scales images in bf16, a block of threads for each plane, after its latency.
double scaled_planes_s(const Dimensions& size, const Device& device);

/// What instructions, not bytes, hold PyTorch's eager kernels to on NVIDIA's GPUs: no call takes less, however fast the
/// memory. Cycles of a unit, over all units at their clock:
///
///     element-wise calls whose operands differ in sizes, strides or type, so that no thread loads four elements at a
///         time (TensorIterator), and batch norm by given statistics            0.65 for each element
///     the latter in bf16, which PyTorch's own kernel computes                  160 for each plane, where that is more
///     copies into another order                                                0.65 for each element
///         whose neighbours lie 8 and more elements apart before                1.75
///     cat of tensors that do not lie plainly                                   1.1 for each element, across 1.75
///     casts to more bytes                                                      0.72 for each element
///         with their gradients, and those to fewer bytes with theirs           1.09
///     roll, for each dimension; pad                                            1.15; 0.88 for each result
///     division by a number on the device                                       1 for each element
///     gelu of 16 bits, vectorised                                              0.33 for each element
///     layer norm                                  260 for each row and 0.41 for each of its elements
///     group norm                                                               1.75 for each element
///     max_pool2d by windows                       (9 + places of the window) / 4.2 for each result
///         its gradient                                                         3.1 for each element of the input
///     avg_pool2d by windows                       2.9 and 0.045 for each place of the window, for each result
///         its gradient                                                         4.7 for each element of the input
///     adaptive_avg_pool2d                                                      13 for each result, but for:
///     averages over whole planes, sums of rows    47 for each row, or 0.15 for each of its elements where that is more
///         the average's gradient                                               0.6 for each element
///     sums over other dimensions                                               0.265 for each element
///     enlarging by the nearest place                                           0.62 for each result
///     depthwise convolutions of images whose channels lie last (cuDNN)         0.048 for each place of the window
///
/// Few rows take what row_kernels.h says. Not over all units, but of the clock: 2,000 before an element-wise call, a
/// copy or a normalization has its first elements, 9,000 for batch norm by given statistics in bf16 and 6,500 for sums
/// before the first block is done; for each image and channel that is enlarged by interpolation 460
/// and 10.5 for each warp of a unit, since a thread takes the same place of all of them in turn (two calls of an H200;
/// EfficientFormerV2 on an RTX 3090 and 4090, where 196 threads make a million planes: docs/decisions/0060); for the
/// gradient of an embedding 94 for each row that was looked up, or, of more than 3,072 rows, which are sorted, 190,000
/// and 19 for each.
///
/// Measured on an H100 and an H200 (datasets/README.md), which are one chip; 7,440 layer norms on five older cards took
/// 1.4 times as long and more. Max pooling on an A30 takes what these say within 15 % in the median
/// (docs/decisions/0041). Windows cost the same where channels lie last: the kernels walk the same places, and networks
/// that pool much say so on two cards (docs/decisions/0062). 0 for all other calls and for devices whose sheet has no
/// units or no clock.
double least_eager_kernel_s(const PreparedOperation& call, const Device& device);

/// Of the time of such a kernel, what its threads work for all the device's units; for the rest they wait for the first
/// block, or for the few elements of their plane: batch norm by given statistics in bf16. Of an interpolation, the
/// units that have a block. 1 for all other calls.
double share_at_work(const PreparedOperation& call, const Device& device);

}  // namespace joulecast
