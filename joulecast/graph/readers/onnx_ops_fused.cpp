// Operators of com.microsoft, which onnxruntime's optimizer and its model builder write.
#include <algorithm>
#include <array>

#include "joulecast/graph/readers/onnx_ops.h"
#include "joulecast/graph/readers/onnx_window.h"

namespace joulecast::onnx {

namespace {

constexpr std::string_view microsoft = "com.microsoft";

Operand add(Call& call, const Operand& a, const Operand& b) {
    return call.emit("aten::add.Tensor", {{"self", a}, {"other", b}});
}

/// GELU of x, or of x + bias.
void gelu(Call& call) {
    const bool is_fast = call.node().op_type == "FastGelu";
    const Operand x = call.has(1) ? add(call, call.tensor(0), call.tensor(1)) : call.tensor(0);
    call.output(0, call.emit("aten::gelu", {{"self", x}, {"approximate", Value(is_fast ? "tanh" : "none")}}));
}

/// x sigmoid(alpha x)
void quick_gelu(Call& call) {
    const Operand x = call.tensor(0);
    const double alpha = call.real("alpha", 1.702);
    if (alpha == 1.0) return call.output(0, call.emit("aten::silu", {{"self", x}}));
    const Operand scaled = call.emit("aten::mul.Tensor", {{"self", x}, {"other", Value(alpha)}});
    const Operand gate = call.emit("aten::sigmoid", {{"self", scaled}});
    call.output(0, call.emit("aten::mul.Tensor", {{"self", x}, {"other", gate}}));
}

Operand normalized(Call& call, const Operand& x, std::size_t weight, std::optional<std::size_t> bias) {
    if (x.type.sizes.empty()) call.refuse("its input has no dimensions");
    const std::int64_t axis = call.axis(call.integer("axis", -1), std::ssize(x.type.sizes));
    const Value sizes = Sizes(x.type.sizes.begin() + axis, x.type.sizes.end());
    if (!bias)
        return call.emit("aten::rms_norm", {{"input", x},
                                            {"normalized_shape", sizes},
                                            {"weight", call.optional_tensor(weight)},
                                            {"eps", Value(call.real("epsilon", 1e-5))}});
    return call.emit("aten::layer_norm", {{"input", x},
                                          {"normalized_shape", sizes},
                                          {"weight", call.optional_tensor(weight)},
                                          {"bias", call.optional_tensor(*bias)},
                                          {"eps", Value(call.real("epsilon", 1e-5))}});
}

void simplified_layer_normalization(Call& call) {
    call.output(0, normalized(call, call.tensor(0), 1, std::nullopt));
}

/// input, skip, gamma, (beta,) bias; the sum is an output too.
template <bool is_simplified>
void skip_layer_normalization(Call& call) {
    constexpr std::size_t bias = is_simplified ? 3 : 4;
    Operand sum = add(call, call.tensor(0), call.tensor(1));
    if (call.has(bias)) sum = add(call, sum, call.tensor(bias));
    call.output(0, normalized(call, sum, 2, is_simplified ? std::nullopt : std::optional<std::size_t>(3)));
    call.output(3, sum);
}

/// input_ids, segment_ids, the tables of words, positions and segments, gamma, beta, mask.
void embed_layer_normalization(Call& call) {
    if (call.rank(0) != 2 || call.rank(3) != 2) call.refuse("its ids or table of positions have not two dimensions");
    const auto rows = [&](std::size_t table, std::size_t ids) {
        return call.emit("aten::embedding", {{"weight", call.tensor(table)}, {"indices", call.tensor(ids)}});
    };
    const std::int64_t sequence = call.type(0).sizes[1];
    const Operand positions =
        call.has(8) ? rows(3, 8)
                    : call.emit("aten::slice.Tensor",
                                {{"self", call.tensor(3)}, {"dim", Value(std::int64_t{0})}, {"end", Value(sequence)}});
    Operand sum = add(call, rows(2, 0), positions);
    if (call.has(1) && call.has(4)) sum = add(call, sum, rows(4, 1));
    call.output(0, normalized(call, sum, 5, 6));
    if (call.wants(1)) {
        const Sizes batch{call.type(0).sizes[0]};
        call.output(1, call.emit("aten::zeros", {{"size", Value(batch)}, {"dtype", Value(Dtype::i32)}}));
    }
    call.output(2, sum);
}

/// [batch, sequence, heads x size] to [batch, heads, sequence, size].
Operand split_heads(Call& call, const Operand& x, std::int64_t heads) {
    if (heads < 1 || x.type.sizes.size() != 3 || x.type.sizes[2] % heads != 0)
        call.refuse("its heads do not divide its features, or these are not in three dimensions");
    const Sizes sizes{x.type.sizes[0], x.type.sizes[1], heads, x.type.sizes[2] / heads};
    const Operand apart = call.emit("aten::view", {{"self", x}, {"size", Value(sizes)}});
    return call.emit("aten::transpose.int",
                     {{"self", apart}, {"dim0", Value(std::int64_t{1})}, {"dim1", Value(std::int64_t{2})}});
}

/// The outputs of all heads side by side.
void put_attention(Call& call, const Operand& query, const Operand& key, const Operand& value, bool is_causal) {
    std::vector<Given> given{{"query", query}, {"key", key}, {"value", value}};
    if (is_causal) given.emplace_back("is_causal", Value(true));
    if (key.type.sizes.at(1) != query.type.sizes.at(1)) given.emplace_back("enable_gqa", Value(true));
    Operand heads = call.emit("aten::scaled_dot_product_attention", std::move(given));
    heads = call.emit("aten::transpose.int",
                      {{"self", heads}, {"dim0", Value(std::int64_t{1})}, {"dim1", Value(std::int64_t{2})}});
    const Sizes sizes{heads.type.sizes[0], heads.type.sizes[1], -1};
    call.output(0, call.emit("aten::reshape", {{"self", heads}, {"shape", Value(sizes)}}));
}

/// Keys or values of before, then the new ones: `past` is the input, absent at the start.
Operand with_past(Call& call, std::size_t past, const Operand& fresh) {
    if (!call.has(past) || call.rank(past) != 4 || call.type(past).sizes[2] == 0) return fresh;
    return call.emit("aten::cat", {{"tensors", Operands{call.tensor(past), fresh}}, {"dim", Value(std::int64_t{2})}});
}

/// x [batch, sequence, in], a weight [in, 3 x features] for query, key and value, its bias.
void attention(Call& call) {
    const std::int64_t heads = call.integer("num_heads", 0);
    const bool has_past = call.has(4) || call.wants(1);
    if (has_past || call.attribute("qkv_hidden_sizes") != nullptr || call.rank(0) != 3) return call.emit_named();
    const Operand projected = call.emit(
        "aten::linear", {{"input", call.tensor(0)}, {"weight", call.transposed(1)}, {"bias", call.optional_tensor(2)}});
    const auto parts = call.emit_all(
        "aten::chunk", {{"self", projected}, {"chunks", Value(std::int64_t{3})}, {"dim", Value(std::int64_t{2})}});
    const Operand query = split_heads(call, parts.at(0), heads);
    const Operand key = split_heads(call, parts.at(1), heads);
    put_attention(call, query, key, split_heads(call, parts.at(2), heads), call.integer("unidirectional", 0) != 0);
}

/// query, key, value, bias for all three, masks, then past keys and values.
void multi_head_attention(Call& call) {
    const std::int64_t heads = call.integer("num_heads", 0);
    if (!call.has(1) || !call.has(2) || call.rank(0) != 3 || call.rank(1) != 3 || call.rank(2) != 3)
        return call.emit_named();
    std::array<Operand, 3> parts{call.tensor(0), call.tensor(1), call.tensor(2)};
    if (call.has(3)) {
        const Sizes features{parts[0].type.sizes[2], parts[1].type.sizes[2], parts[2].type.sizes[2]};
        const auto biases = call.emit_all(
            "aten::split_with_sizes",
            {{"self", call.tensor(3)}, {"split_sizes", Value(features)}, {"dim", Value(std::int64_t{0})}});
        for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = add(call, parts[i], biases.at(i));
    }
    const Operand key = with_past(call, 6, split_heads(call, parts[1], heads));
    const Operand value = with_past(call, 7, split_heads(call, parts[2], heads));
    put_attention(call, split_heads(call, parts[0], heads), key, value, call.integer("unidirectional", 0) != 0);
    call.output(1, key);
    call.output(2, value);
}

/// query, key, value, past keys, past values. Fewer heads of keys than of queries; always causal.
void group_query_attention(Call& call) {
    const std::int64_t heads = call.integer("num_heads", 0);
    const std::int64_t key_heads = call.integer("kv_num_heads", heads);
    // Packed into one input, or rotated within: not the calls that are counted below.
    if (!call.has(1) || !call.has(2) || call.integer("do_rotary", 0) != 0 || call.rank(0) != 3)
        return call.emit_named();
    const Operand query = split_heads(call, call.tensor(0), heads);
    const Operand key = with_past(call, 3, split_heads(call, call.tensor(1), key_heads));
    const Operand value = with_past(call, 4, split_heads(call, call.tensor(2), key_heads));
    // With a cache the new queries see all of it: torch's causal mask would begin at its start.
    put_attention(call, query, key, value, key.type.sizes[2] == query.type.sizes[2]);
    call.output(1, key);
    call.output(2, value);
}

Operand activated(Call& call, const Operand& x) {
    const std::string activation = call.text("activation", "");
    if (activation.empty()) return x;
    static constexpr std::array<std::pair<std::string_view, const char*>, 6> targets{
        {{"Relu", "aten::relu"},
         {"Sigmoid", "aten::sigmoid"},
         {"Tanh", "aten::tanh"},
         {"LeakyRelu", "aten::leaky_relu"},
         {"Clip", "aten::hardtanh"},
         {"HardSigmoid", "aten::hardsigmoid"}}};
    for (const auto& [name, target] : targets)
        if (name == activation) return call.emit(target, {{"self", x}});
    call.refuse("joulecast does not know its activation \"" + activation.substr(0, 100) + "\"");
}

/// Convolution, a sum with Z, an activation.
void fused_convolution(Call& call) {
    const Sizes& sizes = call.type(1).sizes;
    if (sizes.size() < 3) call.refuse("its weight has less than three dimensions");
    Window window = window_of(call, Sizes(sizes.begin() + 2, sizes.end()));
    const Operand input = padded(call, window, 0.0);
    Operand result =
        call.emit("aten::conv" + std::to_string(window.rank()) + "d", {{"input", input},
                                                                       {"weight", call.tensor(1)},
                                                                       {"bias", call.optional_tensor(2)},
                                                                       {"stride", Value(window.strides)},
                                                                       {"padding", Value(window.begins)},
                                                                       {"dilation", Value(window.dilations)},
                                                                       {"groups", Value(call.integer("group", 1))}});
    if (call.has(3)) result = add(call, result, call.tensor(3));
    call.output(0, activated(call, result));
}

Operand last_two_swapped(Call& call, const Operand& x) {
    const auto rank = std::ssize(x.type.sizes);
    if (rank < 2) return x;
    return call.emit("aten::transpose.int", {{"self", x}, {"dim0", Value(rank - 2)}, {"dim1", Value(rank - 1)}});
}

void fused_matmul(Call& call) {
    if (call.integer("transBatchA", 0) != 0 || call.integer("transBatchB", 0) != 0) return call.emit_named();
    const Operand a = call.integer("transA", 0) != 0 ? last_two_swapped(call, call.tensor(0)) : call.tensor(0);
    const Operand b = call.integer("transB", 0) != 0 ? last_two_swapped(call, call.tensor(1)) : call.tensor(1);
    call.output(0, call.emit("aten::matmul", {{"self", a}, {"other", b}}));
}

void fused_gemm(Call& call) {
    const Operand a = call.integer("transA", 0) != 0 ? call.transposed(0) : call.tensor(0);
    const Operand b = call.integer("transB", 0) != 0 ? call.transposed(1) : call.tensor(1);
    const Operand result = call.has(2) ? call.emit("aten::addmm", {{"self", call.tensor(2)}, {"mat1", a}, {"mat2", b}})
                                       : call.emit("aten::mm", {{"self", a}, {"mat2", b}});
    call.output(0, activated(call, result));
}

/// Weights of a few bits, packed: the product's sizes are known, but no record has its cost.
void product_of_packed(Call& call) {
    Sizes sizes = call.type(0).sizes;
    if (sizes.empty()) call.refuse("its input has no dimensions");
    sizes.back() = call.integer("N", 0);
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, sizes)});
}

void named_like_input(Call& call) {
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, call.type(0).sizes)});
}

}  // namespace

std::span<const Row> fused_rows() {
    static constexpr std::array rows{
        Row{"Gelu", 1, &gelu, microsoft},
        Row{"FastGelu", 1, &gelu, microsoft},
        Row{"BiasGelu", 1, &gelu, microsoft},
        Row{"QuickGelu", 1, &quick_gelu, microsoft},
        Row{"SkipLayerNormalization", 1, &skip_layer_normalization<false>, microsoft},
        Row{"SkipSimplifiedLayerNormalization", 1, &skip_layer_normalization<true>, microsoft},
        // onnxruntime keeps this one among ONNX's own.
        Row{"SimplifiedLayerNormalization", 1, &simplified_layer_normalization},
        Row{"EmbedLayerNormalization", 1, &embed_layer_normalization, microsoft},
        Row{"Attention", 1, &attention, microsoft},
        Row{"MultiHeadAttention", 1, &multi_head_attention, microsoft},
        Row{"GroupQueryAttention", 1, &group_query_attention, microsoft},
        Row{"FusedConv", 1, &fused_convolution, microsoft},
        Row{"FusedMatMul", 1, &fused_matmul, microsoft},
        Row{"FusedGemm", 1, &fused_gemm, microsoft},
        Row{"MatMulNBits", 1, &product_of_packed, microsoft, true},
        Row{"RotaryEmbedding", 1, &named_like_input, microsoft, true},
    };
    return rows;
}

}  // namespace joulecast::onnx
