#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Convolutions of images in two dimensions with several channels, but not all, for each group (ResNeXt, RegNet), on
/// NVIDIA's GPUs.
bool runs_grouped_kernel(const PreparedOperation& convolution, const Device& device);

/// What the kernels of such a forward pass take, in seconds, on a device that was never measured: cuDNN turns
/// contiguous images, computes, and turns the result, so the latencies of four kernels come before all else. Then
///
///     max(1.05 cycles of a unit for each byte of the result, FLOP / (peak / 2), 2 · bytes / bandwidth)
///
/// and of images whose channels lie last half of the cycles, one pass over the bytes, and two latencies, which is a
/// judgement. The numbers were chosen with eight on an H200 and an H100 in sight, in float32, TF32 and 16 bits, from 12
/// to 105 us, which are told 6 % off by them (159 % before; tests/forecast/grouped_convolution_test.cpp). Of networks
/// of others, twelve with such convolutions on an RTX 3090 and 4090 at large batches are a test.
double grouped_forward_s(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
