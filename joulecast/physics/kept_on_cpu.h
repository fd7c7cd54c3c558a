#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// What autograd keeps of a call, in the terms of Record::saved and Record::hidden_bytes.
struct KeptTensors {
    std::vector<std::int32_t> saved;
    double hidden_bytes = 0;
};

/// Where kernels of a CPU keep other things than the records say, which are those of CUDA (docs/counting.md). Dropout
/// keeps factors of its input's type in place of a mask of bytes. Attention that drops out, or whose mask takes a
/// gradient, is no fused kernel there but two products and a softmax (_scaled_dot_product_attention_math): it keeps
/// contiguous copies of query, key and value and the weights, and with dropout their factors and the dropped weights.
/// Absent where both keep the same.
std::optional<KeptTensors> kept_on_cpu(const Operation& operation);

}  // namespace joulecast
