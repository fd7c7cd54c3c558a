#include <array>
#include <numeric>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

/// The axes reduced, from the front; absent when the node hands its input on.
std::optional<Sizes> reduced_axes(const Call& call) {
    Sizes axes = call.list_or_input("axes", 1).value_or(Sizes{});
    if (axes.empty()) {
        if (call.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
        axes.resize(static_cast<std::size_t>(call.rank(0)));
        std::iota(axes.begin(), axes.end(), std::int64_t{0});
    }
    for (std::int64_t& axis : axes) axis = call.axis(axis, call.rank(0));
    return axes;
}

Value keepdim(const Call& call) {
    return {call.integer("keepdims", 1) != 0};
}

/// Integers keep their type in ONNX; torch sums them as i64.
void put(Call& call, const Operand& result) {
    const Dtype dtype = call.type(0).dtype;
    if (result.type.dtype == dtype) return call.output(0, result);
    call.output(0, call.emit("aten::to.dtype", {{"self", result}, {"dtype", Value(dtype)}}));
}

template <Target target>
void reduction(Call& call) {
    const auto axes = reduced_axes(call);
    if (!axes) return call.forward(0, 0);
    put(call,
        call.emit(target.string(), {{"self", call.tensor(0)}, {"dim", Value(*axes)}, {"keepdim", keepdim(call)}}));
}

void product(Call& call) {
    const auto axes = reduced_axes(call);
    if (!axes) return call.forward(0, 0);
    Operand result = call.tensor(0);
    Sizes sorted = *axes;
    std::ranges::sort(sorted, std::greater<>());
    for (const std::int64_t axis : sorted)
        result = call.emit("aten::prod.dim_int", {{"self", result}, {"dim", Value(axis)}, {"keepdim", keepdim(call)}});
    put(call, result);
}

template <int order>
void norm(Call& call) {
    const auto axes = reduced_axes(call);
    if (!axes) return call.forward(0, 0);
    put(call, call.emit("aten::linalg_vector_norm", {{"self", call.tensor(0)},
                                                     {"ord", Value(static_cast<double>(order))},
                                                     {"dim", Value(*axes)},
                                                     {"keepdim", keepdim(call)}}));
}

Operand summed(Call& call, const Operand& operand, const Sizes& axes) {
    return call.emit("aten::sum.dim_IntList", {{"self", operand}, {"dim", Value(axes)}, {"keepdim", keepdim(call)}});
}

void sum_of_squares(Call& call) {
    const auto axes = reduced_axes(call);
    const Operand squares = call.emit("aten::square", {{"self", call.tensor(0)}});
    put(call, axes ? summed(call, squares, *axes) : squares);
}

void log_of_sum(Call& call) {
    const auto axes = reduced_axes(call);
    const Operand sum = axes ? summed(call, call.tensor(0), *axes) : call.tensor(0);
    put(call, call.emit("aten::log", {{"self", sum}}));
}

template <Target target>
void position(Call& call) {
    call.output(0, call.emit(target.string(), {{"self", call.tensor(0)},
                                               {"dim", Value(call.axis(call.integer("axis", 0), call.rank(0)))},
                                               {"keepdim", keepdim(call)}}));
}

void top_k(Call& call) {
    const std::optional<Sizes> count = call.has(1) ? call.integers(1) : Sizes{call.integer("k", 1)};
    if (count->size() != 1) call.refuse("k must be one number");
    const auto results = call.emit_all("aten::topk", {{"self", call.tensor(0)},
                                                      {"k", Value(count->front())},
                                                      {"dim", Value(call.axis(call.integer("axis", -1), call.rank(0)))},
                                                      {"largest", Value(call.integer("largest", 1) != 0)},
                                                      {"sorted", Value(call.integer("sorted", 1) != 0)}});
    for (std::size_t i = 0; i < results.size(); ++i) call.output(i, results[i]);
}

void cumulative_sum(Call& call) {
    const Sizes axis = call.integers(1);
    if (axis.size() != 1) call.refuse("axis must be one number");
    put(call, call.emit("aten::cumsum", {{"self", call.tensor(0)}, {"dim", Value(call.axis(axis[0], call.rank(0)))}}));
}

}  // namespace

std::span<const Row> reduction_rows() {
    static constexpr std::array rows{
        Row{"ReduceMean", 1, &reduction<"aten::mean.dim">},
        Row{"ReduceSum", 1, &reduction<"aten::sum.dim_IntList">},
        Row{"ReduceMax", 1, &reduction<"aten::amax">},
        Row{"ReduceMin", 1, &reduction<"aten::amin">},
        Row{"ReduceLogSumExp", 1, &reduction<"aten::logsumexp">},
        Row{"ReduceProd", 1, &product},
        Row{"ReduceL1", 1, &norm<1>},
        Row{"ReduceL2", 1, &norm<2>},
        Row{"ReduceSumSquare", 1, &sum_of_squares},
        Row{"ReduceLogSum", 1, &log_of_sum},
        Row{"ArgMax", 1, &position<"aten::argmax">},
        Row{"ArgMin", 1, &position<"aten::argmin">},
        Row{"TopK", 1, &top_k},
        Row{"CumSum", 11, &cumulative_sum},
    };
    return rows;
}

}  // namespace joulecast::onnx
