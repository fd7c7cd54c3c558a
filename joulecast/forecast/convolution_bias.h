#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// What PyTorch takes to add the bias to what cuDNN convolved, in seconds: a kernel of its own, which reads and writes
/// the result (aten/src/ATen/native/Convolution.cpp, cudnn_convolution and add_), no less than 0.65 cycles of a unit
/// for each element (eager_kernels.h), and its latency. On an H200 in bf16 a layer of 96 channels on 128 images of 56 x
/// 56 takes 83 us more than without; this tells 96. 0 for all that takes no bias or adds it itself: PyTorch's own
/// depthwise kernels; transposed convolutions, whose passes were measured with it; and float32 without TF32 over all
/// channels, which others measured with it.
double bias_pass_s(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
