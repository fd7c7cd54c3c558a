#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// What PyTorch takes to add the bias to what cuDNN convolved, in seconds: a kernel of its own, which reads and writes
/// the result (aten/src/ATen/native/Convolution.cpp, cudnn_convolution and add_), no less than 0.65 cycles of a unit
/// for each element (eager_kernels.h). On an H200 in bf16 one of 96 channels and 56 x 56 places of 128 images was told
/// 83 us too short without it; this tells 96. Its latency is not seen: fifteen layers of one place take as long as
/// without. 0 for all that takes no bias or adds it itself: PyTorch's own depthwise kernels; transposed convolutions,
/// whose passes were measured with it; and float32 without TF32 over all channels, which others measured with it.
double bias_pass_s(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
