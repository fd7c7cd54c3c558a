#include <algorithm>
#include <array>

#include "joulecast/graph/readers/onnx_fold.h"
#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

template <Target target>
void unary(Call& call) {
    call.output(0, call.emit(target.string(), {{"self", call.tensor(0)}}));
}

void gelu(Call& call) {
    call.output(0, call.emit("aten::gelu",
                             {{"self", call.tensor(0)}, {"approximate", Value(call.text("approximate", "none"))}}));
}

void linear(Call& call) {
    const Operand weight = call.integer("transB", 0) != 0 ? call.tensor(1) : call.transposed(1);
    if (call.rank(0) == 0) call.refuse("its input has no dimensions");
    call.output(0, call.emit("aten::linear",
                             {{"input", call.tensor(0)}, {"weight", weight}, {"bias", call.optional_tensor(2)}}));
}

void layer_norm(Call& call) {
    const Sizes& sizes = call.type(0).sizes;
    const std::int64_t axis = call.axis(call.integer("axis", -1), call.rank(0));
    const Sizes normalized(sizes.begin() + axis, sizes.end());
    // A weight of other sizes broadcasts, which layer_norm's cannot.
    for (std::size_t i = 1; i < call.input_count(); ++i)
        if (call.type(i).sizes != normalized) call.refuse("its weight does not have the sizes that are normalized");
    call.output(0, call.emit("aten::layer_norm", {{"input", call.tensor(0)},
                                                  {"normalized_shape", Value(normalized)},
                                                  {"weight", call.optional_tensor(1)},
                                                  {"bias", call.optional_tensor(2)},
                                                  {"eps", Value(call.real("epsilon", 1e-5))}}));
}

/// True when query, key and value are batches of matrices that one kernel takes: nothing broadcasts.
bool fits_attention(const Operand& query, const Operand& key, const Operand& value, std::int64_t axis) {
    const auto rank = std::ssize(query.type.sizes);
    if (rank < 3 || std::ssize(key.type.sizes) != rank || std::ssize(value.type.sizes) != rank) return false;
    if (axis != -1 && axis != rank - 1) return false;
    return std::equal(query.type.sizes.begin(), query.type.sizes.end() - 2, key.type.sizes.begin()) &&
           std::equal(query.type.sizes.begin(), query.type.sizes.end() - 2, value.type.sizes.begin());
}

/// The pattern did not see shapes; where it does not fit, the calls that it was made of.
void attention_in_parts(Call& call, const Operand& query, const Operand& key, const Operand& value) {
    Operand scores = call.emit("aten::matmul", {{"self", query}, {"other", key}});
    const double scale = call.real("scale", 1.0);
    if (scale != 1.0) scores = call.emit("aten::mul.Tensor", {{"self", scores}, {"other", Value(scale)}});
    if (call.has(3)) scores = call.emit("aten::add.Tensor", {{"self", scores}, {"other", call.tensor(3)}});
    const auto rank = std::ssize(scores.type.sizes);
    const std::int64_t axis = call.axis(call.integer("axis", -1), rank);
    const Operand weights = call.emit("aten::softmax.int", {{"self", scores}, {"dim", Value(axis)}});
    call.output(0, call.emit("aten::matmul", {{"self", weights}, {"other", value}}));
}

void attention(Call& call) {
    const Operand query = call.tensor(0);
    const Operand turned_key = call.tensor(1);
    const Operand value = call.tensor(2);
    if (!fits_attention(query, turned_key, value, call.integer("axis", -1)))
        return attention_in_parts(call, query, turned_key, value);
    const auto rank = std::ssize(query.type.sizes);
    const Operand key =
        call.emit("aten::transpose.int", {{"self", turned_key}, {"dim0", Value(rank - 2)}, {"dim1", Value(rank - 1)}});
    call.output(0, call.emit("aten::scaled_dot_product_attention", {{"query", query},
                                                                    {"key", key},
                                                                    {"value", value},
                                                                    {"attn_mask", call.optional_tensor(3)},
                                                                    {"scale", Value(call.real("scale", 1.0))}}));
}

}  // namespace

std::span<const Row> folded_rows() {
    static constexpr std::array rows{
        Row{"Linear", 1, &linear, folded_domain},
        Row{"Gelu", 1, &gelu, folded_domain},
        Row{"Silu", 1, &unary<"aten::silu">, folded_domain},
        Row{"HardSwish", 1, &unary<"aten::hardswish">, folded_domain},
        Row{"Mish", 1, &unary<"aten::mish">, folded_domain},
        Row{"Rsqrt", 1, &unary<"aten::rsqrt">, folded_domain},
        Row{"LayerNormalization", 1, &layer_norm, folded_domain},
        Row{"Attention", 1, &attention, folded_domain},
    };
    return rows;
}

}  // namespace joulecast::onnx
