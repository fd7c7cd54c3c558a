#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Kernels beside the product: 0, 1 or 2. A linear layer of three dimensions or more whose input is no matrix as it
/// lies (the image tokens of a vision transformer whose batch does not come first) is copied into one by PyTorch for a
/// weight that requires a gradient, as a parameter does in inference too, and the bias is added by a kernel of its own
/// (linear() and should_fold() in ATen/native/Linear.cpp and LinearAlgebra.cpp, torch 2.13).
double flattening_kernels(const Operation& linear);

/// What a GPU of NVIDIA takes for them beside the product, in seconds: 0.65 cycles of a unit for each element of the
/// input, and of the result where there is a bias, as all kernels whose operands lie apart (eager_kernels.h). 0 for
/// other calls.
double flattening_s(const PreparedOperation& linear, const Device& device);

}  // namespace joulecast
