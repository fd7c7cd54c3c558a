#include "lab/published/serving_layer.h"

namespace joulecast {
namespace {

TensorType by_token(std::int64_t batch, std::int64_t heads, std::int64_t tokens, std::int64_t depth) {
    const Strides memory = contiguous_strides({batch, tokens, heads, depth});
    return strided(Dtype::bf16, {batch, heads, tokens, depth}, {memory[0], memory[2], memory[1], memory[3]});
}

}  // namespace

Operation serving_linear(Dtype dtype, std::int64_t tokens, std::int64_t in, std::int64_t out) {
    return {"aten::linear", {{"input", TensorType{dtype, {tokens, in}}}, {"weight", TensorType{dtype, {out, in}}}}};
}

Operation serving_attention(const ServingHeads& h) {
    Operation operation{"aten::scaled_dot_product_attention",
                        {{"query", by_token(h.batch, h.heads, h.queries, h.depth)},
                         {"key", by_token(h.batch, h.kv_heads, h.keys, h.depth)},
                         {"value", by_token(h.batch, h.kv_heads, h.keys, h.depth)}}};
    if (h.is_causal) operation.arguments.push_back({"is_causal", true});
    if (h.heads != h.kv_heads) operation.arguments.push_back({"enable_gqa", true});
    return operation;
}

}  // namespace joulecast
