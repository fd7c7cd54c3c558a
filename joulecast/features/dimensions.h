#pragma once

#include <limits>

#include "joulecast/graph/operation.h"
#include "joulecast/graph/record.h"

namespace joulecast {

/// The sizes of an operation under names common to all families; NaN where a name means nothing for it. Exact integers
/// below 2^53, kept as double because they only feed logarithms.
struct Dimensions {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    // First input: rank 4 is N, C, H, W; otherwise N is the first size, C the last, H the product of those between.
    double n = none, c = none, h = none, w = none;
    double rank = none;
    double last = none;    ///< innermost size
    double inputs = none;  ///< number of tensors
    double k = none;       ///< output channels or features
    double oh = none, ow = none;
    double groups = none;
    double kernel_h = none, kernel_w = none, stride = none, padding = none, dilation = none;
    /// As a batch of matrix products: gemm_b times [m x k] times [k x n].
    double gemm_b = none, gemm_m = none, gemm_n = none, gemm_k = none;
    double reduced = none;  ///< elements that are combined into one (normalised or pooled window, softmax row)
    double elements_in = 0, elements_out = 0;
    double input_bytes = 0;  ///< of all tensors but the weight
    double weight_bytes = 0;
    double output_bytes = 0;
    Counts forward;  ///< of causal attention without the tiles that kernels leave out
    Counts backward;
    Family family = Family::other;
};

/// Throws FormatError where the record finds that the arguments cannot be right.
Dimensions dimensions(const Operation& operation);

}  // namespace joulecast
