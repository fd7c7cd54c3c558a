#pragma once

#include "joulecast/device/device.h"

namespace joulecast::torch_worker {

/// How float32 products are computed on a GPU from now on. PyTorch lets cuDNN take TF32 unless told otherwise, so
/// `ieee` is set too, for matrix products, convolutions and recurrent layers.
void set_math(Math math);

/// What is set now: tf32 if any of the three may take it.
Math math_now();

}  // namespace joulecast::torch_worker
