#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

struct Attention {
    const TensorType& query;
    const TensorType& key;
    const TensorType& value;
    const TensorType* mask;
    /// Batch and heads together.
    std::int64_t batches;
    std::int64_t queries;
    std::int64_t keys;
    std::int64_t depth;
    std::int64_t value_depth;
};

/// What the mask is called in the schema.
std::string_view mask_name(const Operation& operation) {
    return has_parameter(operation, "attn_bias") ? "attn_bias" : "attn_mask";
}

/// Query: [batch, heads, length, depth] with any number of leading dimensions; keys may have fewer heads (GQA).
Attention read(const Operation& operation) {
    const TensorType& query = tensor(operation, "query");
    const TensorType& key = tensor(operation, "key");
    const TensorType& value = tensor(operation, "value");
    const std::size_t last = rank(query) - 1;
    if (rank(query) < 2 || rank(key) != rank(query) || rank(value) != rank(query)) {
        refuse(operation, "query, key and value need the same number of dimensions, two or more");
    }
    if (key.sizes[last] != query.sizes[last] || value.sizes[last - 1] != key.sizes[last - 1]) {
        refuse(operation, "query, key and value do not fit");
    }
    const Sizes leading(query.sizes.begin(), query.sizes.end() - 2);
    return {query,
            key,
            value,
            optional_tensor(operation, mask_name(operation)),
            product(operation, leading),
            query.sizes[last - 1],
            key.sizes[last - 1],
            query.sizes[last],
            value.sizes[last]};
}

/// Multiply-adds of one product between queries and keys over `depth`, twice: bmm_flop.
std::int64_t product_flop(const Operation& operation, const Attention& call, std::int64_t depth) {
    const std::int64_t scores = product(operation, {call.batches, call.queries, call.keys});
    return checked(operation, scores, checked(operation, 2, depth));
}

/// The mask is broadcast over the scores and takes no gradient.
bool is_fused_mask(const Attention& call) {
    if (call.mask == nullptr) return true;
    const Sizes& mask = call.mask->sizes;
    const Sizes& query = call.query.sizes;
    if (call.mask->requires_grad || (mask.size() != 2 && mask.size() != 4)) return false;
    const Sizes scores{query[0], query[1], call.queries, call.keys};
    for (std::size_t i = 0; i < mask.size(); ++i) {
        if (mask[i] != 1 && mask[i] != scores[4 - mask.size() + i]) return false;
    }
    return true;
}

/// Whether the CPU runs one kernel (flash attention) instead of products and a softmax: torch's sdp_utils_cpp.
bool is_fused(const Operation& operation, const Attention& call) {
    if (rank(call.query) != 4 || call.depth != call.value_depth || call.queries == 0 || call.keys == 0) return false;
    if (argument_or_default<double>(operation, "dropout_p") > 0.0) return false;
    const bool may_share_keys = has_parameter(operation, "enable_gqa") && flag(operation, "enable_gqa");
    for (const TensorType* other : {&call.key, &call.value}) {
        const std::int64_t heads = other->sizes[1];
        const bool fits =
            heads == call.query.sizes[1] || (may_share_keys && heads > 0 && call.query.sizes[1] % heads == 0);
        if (other->sizes[0] != call.query.sizes[0] || !fits) return false;
    }
    const bool in_one_piece =
        strides_of(call.query)[3] == 1 && strides_of(call.key)[3] == 1 && strides_of(call.value)[3] == 1;
    return (in_one_piece || call.depth == 1) && is_fused_mask(call);
}

/// The fused kernel writes in the order of the query, a matrix product contiguously.
Types outputs(const Operation& operation) {
    const Attention call = read(operation);
    Sizes sizes = call.query.sizes;
    sizes.back() = call.value_depth;
    if (is_fused(operation, call)) return {like(call.query)};
    return {make(call.query.dtype, std::move(sizes))};
}

/// Scaling, softmax (maximum, subtraction, exponential, sum, division) and the mask: per score.
constexpr std::int64_t elementary_per_score = 6;

/// sdpa_flop_count: two products; mask and causality save nothing.
Counts forward(const Operation& operation) {
    const Attention call = read(operation);
    const std::int64_t scores = product(operation, {call.batches, call.queries, call.keys});
    const std::int64_t per_score = elementary_per_score + (call.mask != nullptr ? 1 : 0);
    return {product_flop(operation, call, call.depth) + product_flop(operation, call, call.value_depth),
            checked(operation, per_score, scores), input_bytes(operation), bytes(outputs(operation))};
}

/// sdpa_backward_flop_count: five products, since a fused kernel computes the scores again.
Counts backward(const Operation& operation) {
    const Attention call = read(operation);
    const std::int64_t scores = product(operation, {call.batches, call.queries, call.keys});
    const std::int64_t output_bytes = bytes(outputs(operation));
    const std::int64_t flop = checked(operation, 3, product_flop(operation, call, call.depth)) +
                              checked(operation, 2, product_flop(operation, call, call.value_depth));
    return {flop, checked(operation, 2 * elementary_per_score, scores), input_bytes(operation) + 2 * output_bytes,
            gradient_bytes(operation)};
}

/// All tensors and the output. A mask of booleans is not kept itself, but as numbers (kept_bytes).
Indices saved(const Operation& operation) {
    const auto operands = tensors(operation);
    Indices kept;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i]->dtype != Dtype::boolean) kept.push_back(static_cast<std::int32_t>(i));
    }
    kept.push_back(static_cast<std::int32_t>(operands.size()));
    return kept;
}

MatrixProduct as_product(const Operation& operation) {
    const Attention call = read(operation);
    return {call.batches, call.queries, call.keys, call.depth};
}

/// Attention that drops out, or whose mask takes a gradient, is no fused kernel on a CPU but two products and a softmax
/// (_scaled_dot_product_attention_math): it keeps contiguous copies of query, key and value and the weights, and with
/// dropout their factors and the dropped weights.
std::optional<KeptTensors> kept_on_cpu(const Operation& operation) {
    const Attention call = read(operation);
    const bool drops = argument_or_default<double>(operation, "dropout_p") > 0;
    if (!drops && !(call.mask != nullptr && call.mask->requires_grad)) return std::nullopt;
    KeptTensors kept;
    for (const TensorType* operand : {&call.query, &call.key, &call.value})
        kept.hidden_bytes += static_cast<double>(byte_count(*operand));
    if (call.depth == 0) return std::nullopt;
    const double weights =
        static_cast<double>(byte_count(call.query)) / static_cast<double>(call.depth) * static_cast<double>(call.keys);
    kept.hidden_bytes += (drops ? 3 : 1) * weights;
    return kept;
}

/// The logarithm of each row's sum, and a mask of booleans as 0 and -inf in the query's dtype.
std::int64_t kept_bytes(const Operation& operation) {
    const Attention call = read(operation);
    const std::int64_t rows =
        checked(operation, checked(operation, call.batches, call.queries), element_bytes(Dtype::f32));
    if (call.mask == nullptr || call.mask->dtype != Dtype::boolean) return rows;
    return added(rows, checked(operation, element_count(*call.mask), element_bytes(call.query.dtype)));
}

/// Core ATen names the kernel, which also gives out the logarithm of each row's sum, for the backward pass. What else
/// stands behind it (seeds, offsets, lengths) has no size worth counting.
Types fused_outputs(const Operation& operation) {
    const Attention call = read(operation);
    Sizes rows(call.query.sizes.begin(), call.query.sizes.end() - 1);
    Types types = outputs(operation);
    // The math form gives out the weights.
    if (operation.target.ends_with("_math")) {
        rows.push_back(call.keys);
        types.push_back(make(call.query.dtype, std::move(rows)));
        return types;
    }
    const Dtype dtype = call.query.dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32;
    // The efficient kernel pads rows to a multiple of 32, and leaves them out when nobody will ask.
    if (operation.target.find("_efficient_") != std::string::npos) {
        rows.back() = flag(operation, "compute_log_sumexp") ? added(rows.back(), 31) / 32 * 32 : 0;
    }
    if (operation.target.find("_cudnn_") != std::string::npos) rows.push_back(1);
    types.push_back(make(dtype, std::move(rows)));
    return types;
}

Counts fused_forward(const Operation& operation) {
    Counts counts = forward(operation);
    counts.bytes_written = bytes(fused_outputs(operation));
    return counts;
}

/// As the composite, and the sums.
Indices fused_saved(const Operation& operation) {
    Indices kept = saved(operation);
    kept.push_back(kept.back() + 1);
    return kept;
}

constexpr Row fused(std::string_view schema) {
    return {schema, Family::attention, &fused_outputs, &fused_forward, &backward, &fused_saved, nullptr, &as_product};
}

constexpr Row attention(std::string_view schema) {
    return {schema, Family::attention, &outputs,    &forward, &backward,
            &saved, &kept_bytes,       &as_product, nullptr,  &kept_on_cpu};
}

constexpr std::array rows{
    cast(lowered,
         attention("aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
                   "float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor")),
    cast(
        lowered_on_gpu,
        fused(
            "aten::_scaled_dot_product_flash_attention(Tensor query, Tensor key, Tensor value, float dropout_p=0., "
            "bool "
            "is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, "
            "Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor rng_state, Tensor unused, Tensor "
            "debug_attn_mask)")),
    fused(
        "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., "
        "bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)"),
    fused("aten::_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, "
          "bool compute_log_sumexp, float dropout_p=0., bool is_causal=False, *, float? scale=None) -> (Tensor output, "
          "Tensor log_sumexp, Tensor philox_seed, Tensor philox_offset)"),
    fused("aten::_scaled_dot_product_cudnn_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool "
          "compute_log_sumexp, float dropout_p=0., bool is_causal=False, bool return_debug_mask=False, *, float? "
          "scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt "
          "max_k, Tensor philox_seed, Tensor philox_offset, Tensor debug_attn_mask)"),
    fused("aten::_scaled_dot_product_fused_attention_overrideable(Tensor query, Tensor key, Tensor value, Tensor? "
          "attn_bias=None, float dropout_p=0., bool is_causal=False, bool return_debug_mask=False, *, float? "
          "scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt "
          "max_k, Tensor philox_seed, Tensor philox_offset, Tensor debug_attn_mask)"),
    fused("aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
          "float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool "
          "enable_gqa=False) -> (Tensor, Tensor)"),
};

}  // namespace

std::span<const Row> attention_rows() {
    return rows;
}

}  // namespace joulecast::records
