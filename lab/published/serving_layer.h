#pragma once

#include <cstdint>

#include "joulecast/graph/operation.h"

namespace joulecast {

// Calls of a transformer's layer as serving engines compute it.

/// y = x W^T: x of [tokens, in], W of [out, in], no bias.
Operation serving_linear(Dtype dtype, std::int64_t tokens, std::int64_t in, std::int64_t out);

/// Attention of one layer on one device.
struct ServingHeads {
    std::int64_t batch = 1;
    std::int64_t queries = 1;  ///< tokens of a sequence that look
    std::int64_t keys = 1;     ///< tokens that are looked at
    std::int64_t heads = 1;
    std::int64_t kv_heads = 1;  ///< divides heads
    std::int64_t depth = 1;     ///< elements of a head
    bool is_causal = false;     ///< query i sees keys 0 to i; equal counts of both
};

/// In bf16, tensors token by token, heads within a token: as the engines keep them, and transformers' views of a
/// projection.
Operation serving_attention(const ServingHeads& heads);

}  // namespace joulecast
