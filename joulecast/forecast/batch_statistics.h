#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Batch norm in training on NVIDIA's GPUs: its statistics are those of the batch.
bool runs_batch_statistics(const PreparedOperation& normalization, const Device& device);

/// What its forward pass takes, in seconds, on a device that was never measured: one kernel reads the input for its
/// statistics, another reads it again and writes the result (PyTorch's batch_norm_collect_statistics and
/// batch_norm_transform_input, aten/src/ATen/native/cuda/Normalization.cuh), and the call counts these bytes:
///
///     bytes / (0.78 · streamed bandwidth) + 2 kernel latencies
///
/// and no less than what a block for each channel takes for its sums, and in bf16 a block for each plane for the rest.
/// 54 training calls on an H100 and an H200 are told 10 % off in the mean.
double batch_statistics_forward_s(const PreparedOperation& normalization, const Device& device);

/// The same of the backward pass: input and gradient are read for two sums, read again, and the gradient of the input
/// is written (batch_norm_backward_reduce and batch_norm_backward_elemt, there).
double batch_statistics_backward_s(const PreparedOperation& normalization, const Device& device);

}  // namespace joulecast
