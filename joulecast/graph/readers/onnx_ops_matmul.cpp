#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

/// A product with a weight is what torch calls linear, whose weight lies as [out, in].
void matmul(Call& call) {
    if (call.is_weight(1) && call.rank(1) == 2 && call.rank(0) > 0)
        return call.output(0, call.emit("aten::linear", {{"input", call.tensor(0)}, {"weight", call.transposed(1)}}));
    call.output(0, call.emit("aten::matmul", {{"self", call.tensor(0)}, {"other", call.tensor(1)}}));
}

/// alpha A B + beta C; the factors change no cost.
void gemm(Call& call) {
    const bool turned_a = call.integer("transA", 0) != 0;
    const bool turned_b = call.integer("transB", 0) != 0;
    const Operand a = turned_a ? call.transposed(0) : call.tensor(0);
    const bool is_vector = call.has(2) && call.rank(2) == 1;
    if ((turned_b || call.is_weight(1)) && (is_vector || !call.has(2))) {
        const Operand weight = turned_b ? call.tensor(1) : call.transposed(1);
        const bool fits = !is_vector || (!weight.type.sizes.empty() && call.type(2).sizes[0] == weight.type.sizes[0]);
        if (fits)
            return call.output(
                0, call.emit("aten::linear", {{"input", a}, {"weight", weight}, {"bias", call.optional_tensor(2)}}));
    }
    const Operand b = turned_b ? call.transposed(1) : call.tensor(1);
    if (!call.has(2)) return call.output(0, call.emit("aten::mm", {{"self", a}, {"mat2", b}}));
    call.output(0, call.emit("aten::addmm", {{"self", call.tensor(2)}, {"mat1", a}, {"mat2", b}}));
}

void einsum(Call& call) {
    Operands tensors;
    for (std::size_t i = 0; i < call.input_count(); ++i) tensors.emplace_back(call.tensor(i));
    call.output(0, call.emit("aten::einsum",
                             {{"equation", Value(call.text("equation", ""))}, {"tensors", std::move(tensors)}}));
}

}  // namespace

std::span<const Row> matmul_rows() {
    static constexpr std::array rows{
        Row{"MatMul", 1, &matmul},
        Row{"Gemm", 1, &gemm},
        Row{"Einsum", 12, &einsum},
    };
    return rows;
}

}  // namespace joulecast::onnx
