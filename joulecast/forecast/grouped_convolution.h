#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Convolutions of images in two dimensions with several channels, but not all, for each group (ResNeXt, RegNet), on
/// NVIDIA's GPUs.
bool runs_grouped_kernel(const PreparedOperation& convolution, const Device& device);

/// What the kernels of such a forward pass take, in seconds, on a device that was never measured:
///
///     max(arithmetic, bytes / bandwidth, 0.7 cycles of a unit for each byte of the result)
///
/// and, of contiguous images, which cuDNN turns before and whose result it turns after, two passes over all bytes and
/// the latencies of four kernels in the place of two. Tensor cores multiply tiles of channels, 16 or multiples of 32 of
/// a group, at 0.8 of the peak, whatever the group has: one of 40 channels takes (64 / 40)^2 times its FLOP. Elsewhere
/// FLOP / (peak / 2). Where channels lie last, groups of two take 3.5 times that, and those of other than a power of
/// two at least 1.6 times channels_last_convolution_s() (docs/decisions/0062). Chosen with four on an H200 in sight
/// (tests/forecast/grouped_convolution_test.cpp) and timm's networks on an RTX 3090 and 4090 (docs/decisions/0060).
double grouped_forward_s(const PreparedOperation& convolution, const Device& device);

/// Of the gradients that are wanted: the input's as the forward pass, the weight's in twice that. Chosen on timm's
/// networks that an RTX 3090 trained in mixed precision (docs/decisions/0061).
double grouped_backward_s(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
