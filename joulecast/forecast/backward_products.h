#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// How much longer the products of a backward pass take than the forward one for the same arithmetic. Hopper's warp
/// groups read TF32 operands along the depth of the product alone (PTX ISA, wgmma: only those of 16 bits may be
/// transposed), and of each product of the backward pass one operand lies across: three linear layers on an H200 take
/// 1.3 to 1.6 times (datasets/h200.csv), those in bf16 on an H100 1.0 to 1.4. 1 elsewhere.
double slowdown_across_depth(const PreparedOperation& operation, const Device& device);

/// Seconds that the gradient of a bias takes: a sum over all rows of the result's gradient, by a kernel of its own. 0
/// where no bias has one.
double bias_gradient_s(const PreparedOperation& operation, const Device& device);

}  // namespace joulecast
