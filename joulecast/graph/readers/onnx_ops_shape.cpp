#include <algorithm>
#include <array>
#include <numeric>

#include "joulecast/error.h"
#include "joulecast/graph/readers/onnx_ops.h"
#include "joulecast/graph/readers/onnx_tensor.h"

namespace joulecast::onnx {

namespace {

void reshape(Call& call) {
    Sizes sizes = call.has(1) ? call.sizes_by_input(1) : call.list("shape", {});
    const bool copies_zeros = call.integer("allowzero", 0) == 0;
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (sizes[d] == 0 && copies_zeros && d < call.type(0).sizes.size()) sizes[d] = call.type(0).sizes[d];
    if (const auto rest = std::ranges::find(sizes, -1); rest != sizes.end()) {
        std::int64_t known = 1;
        for (const std::int64_t size : sizes)
            if (size != -1 && __builtin_mul_overflow(known, size, &known)) call.refuse("its sizes overflow");
        if (known != 0) *rest = element_count(call.type(0)) / known;
    }
    call.output(0, call.emit("aten::reshape", {{"self", call.tensor(0)}, {"shape", Value(sizes)}}));
}

/// To a matrix, whatever the axis.
void flatten(Call& call) {
    const Operand x = call.tensor(0);
    const std::int64_t rank = call.rank(0);
    std::int64_t axis = call.integer("axis", 1);
    if (axis != rank) axis = call.axis(axis, rank);
    if (axis == 1 && rank > 1)
        return call.output(0, call.emit("aten::flatten.using_ints", {{"self", x}, {"start_dim", Value(axis)}}));
    std::int64_t before = 1;
    for (std::int64_t d = 0; d < axis; ++d) {
        if (__builtin_mul_overflow(before, x.type.sizes[static_cast<std::size_t>(d)], &before))
            call.refuse("its sizes overflow");
    }
    const std::int64_t after = before == 0 ? 0 : element_count(x.type) / before;
    call.output(0, call.emit("aten::reshape", {{"self", x}, {"shape", Value(Sizes{before, after})}}));
}

void squeeze(Call& call) {
    const auto axes = call.list_or_input("axes", 1);
    if (!axes) return call.output(0, call.emit("aten::squeeze", {{"self", call.tensor(0)}}));
    call.output(0, call.emit("aten::squeeze.dims", {{"self", call.tensor(0)}, {"dim", Value(*axes)}}));
}

void unsqueeze(Call& call) {
    auto axes = call.list_or_input("axes", 1);
    if (!axes) call.refuse("it has no axes");
    for (std::int64_t& axis : *axes) axis = call.axis(axis, call.rank(0) + std::ssize(*axes));
    std::ranges::sort(*axes);
    Operand result = call.tensor(0);
    for (const std::int64_t axis : *axes)
        result = call.emit("aten::unsqueeze", {{"self", result}, {"dim", Value(axis)}});
    call.output(0, result);
}

void transpose(Call& call) {
    Sizes order(call.type(0).sizes.size());
    std::iota(order.rbegin(), order.rend(), std::int64_t{0});
    order = call.list("perm", order);
    call.output(0, call.emit("aten::permute", {{"self", call.tensor(0)}, {"dims", Value(order)}}));
}

void concat(Call& call) {
    Operands parts;
    for (std::size_t i = 0; i < call.input_count(); ++i) parts.emplace_back(call.tensor(i));
    const std::int64_t axis = call.axis(call.integer("axis", 1), call.rank(0));
    if (parts.size() == 1) return call.forward(0, 0);
    call.output(0, call.emit("aten::cat", {{"tensors", std::move(parts)}, {"dim", Value(axis)}}));
}

void split(Call& call) {
    const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
    const std::int64_t size = call.type(0).sizes[static_cast<std::size_t>(axis)];
    Sizes parts = call.list_or_input("split", 1).value_or(Sizes{});
    if (parts.empty()) {
        const auto count = static_cast<std::int64_t>(std::max<std::size_t>(call.output_count(), 1));
        const std::int64_t each = (size + count - 1) / count;
        for (std::int64_t left = size; std::ssize(parts) < count; left -= each)
            parts.push_back(std::clamp(left, std::int64_t{0}, each));
    }
    const auto results = call.emit_all("aten::split_with_sizes",
                                       {{"self", call.tensor(0)}, {"split_sizes", Value(parts)}, {"dim", Value(axis)}});
    for (std::size_t i = 0; i < results.size(); ++i) call.output(i, results[i]);
}

void slice(Call& call) {
    const auto [starts, ends, axes, steps] = slice_range(call);
    Operand result = call.tensor(0);
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::int64_t axis = call.axis(axes[i], call.rank(0));
        const std::int64_t size = result.type.sizes[static_cast<std::size_t>(axis)];
        std::int64_t start = starts[i];
        std::int64_t end = ends[i];
        std::int64_t step = steps[i];
        if (step == 0 || step == INT64_MIN) call.refuse("a step is zero or beyond 64 bits");
        if (step < 0) {
            // Backwards: from the mirrored place in the mirrored tensor.
            result = call.emit("aten::flip", {{"self", result}, {"dims", Value(Sizes{axis})}});
            const auto mirrored = [&](std::int64_t at) {
                const std::int64_t wrapped = at < 0 && at >= -size ? at + size : at;
                return size - 1 - std::clamp(wrapped, std::int64_t{-1}, size - 1);
            };
            start = mirrored(start);
            end = mirrored(end);
            step = -step;
        } else {
            const auto bounded = [&](std::int64_t at) {
                return std::clamp(at < 0 && at >= -size ? at + size : at, std::int64_t{0}, size);
            };
            start = bounded(start);
            end = std::max(start, bounded(end));
        }
        if (start == 0 && end == size && step == 1) continue;
        result = call.emit("aten::slice.Tensor", {{"self", result},
                                                  {"dim", Value(axis)},
                                                  {"start", Value(start)},
                                                  {"end", Value(end)},
                                                  {"step", Value(step)}});
    }
    call.output(0, result);
}

/// Broadcast both ways: a size of one in the shape keeps the tensor's.
void expand(Call& call) {
    const Operand x = call.tensor(0);
    Sizes sizes = call.sizes_by_input(1);
    const Sizes& own = x.type.sizes;
    if (sizes.size() < own.size()) sizes.insert(sizes.begin(), own.size() - sizes.size(), 1);
    for (std::size_t d = 0; d < own.size(); ++d) {
        std::int64_t& size = sizes[sizes.size() - own.size() + d];
        if (size == 1) size = own[d];
    }
    if (sizes == own) return call.forward(0, 0);
    call.output(0, call.emit("aten::expand", {{"self", x}, {"size", Value(sizes)}}));
}

void tile(Call& call) {
    call.output(0, call.emit("aten::repeat", {{"self", call.tensor(0)}, {"repeats", Value(call.integers(1))}}));
}

void cast_to(Call& call, Dtype dtype) {
    if (dtype == call.type(0).dtype) return call.forward(0, 0);
    call.output(0, call.emit("aten::to.dtype", {{"self", call.tensor(0)}, {"dtype", Value(dtype)}}));
}

void cast(Call& call) {
    cast_to(call, required_dtype(call.integer("to", 0)));
}

void cast_like(Call& call) {
    cast_to(call, call.type(1).dtype);
}

void identity(Call& call) {
    call.forward(0, 0);
}

/// Without training it hands its input on; its mask is all true then.
void dropout(Call& call) {
    const bool trains = call.scalar(2).value_or(0.0) != 0.0;
    if (trains) {
        const double ratio = call.scalar(1).value_or(0.5);
        call.output(
            0, call.emit("aten::dropout", {{"input", call.tensor(0)}, {"p", Value(ratio)}, {"train", Value(true)}}));
    } else {
        call.forward(0, 0);
    }
    if (call.wants(1))
        call.output(1,
                    call.emit("aten::ones", {{"size", Value(call.type(0).sizes)}, {"dtype", Value(Dtype::boolean)}}));
}

void constant(Call& call) {
    if (const Attribute* value = call.attribute("value"); value != nullptr && value->tensor)
        return call.store(0, *value->tensor);
    // Written as value_int, value_floats and the like.
    auto numbers = evaluate(call);
    if (!numbers) call.refuse("it is not a dense tensor of numbers");
    Tensor tensor;
    tensor.dtype = numbers->front().dtype;
    tensor.sizes = numbers->front().sizes;
    tensor.values = std::move(numbers->front());
    call.store(0, tensor);
}

void constant_of_shape(Call& call) {
    const Attribute* value = call.attribute("value");
    Dtype dtype = Dtype::f32;
    Value fill = 0.0;
    if (value != nullptr && value->tensor) {
        dtype = value->tensor->dtype;
        const auto& numbers = value->tensor->values;
        if (!is_floating(dtype)) fill = std::int64_t{0};
        if (numbers && numbers->count() == 1)
            fill = numbers->is_real() ? Value(numbers->reals[0]) : Value(numbers->integers[0]);
    }
    call.output(0, call.emit("aten::full",
                             {{"size", Value(call.sizes_by_input(0))}, {"fill_value", fill}, {"dtype", Value(dtype)}}));
}

void range(Call& call) {
    const auto number = [&](std::size_t input) -> Value {
        const auto value = call.scalar(input);
        if (!value) call.refuse_unknown(input, "the numbers");
        if (call.known(input)->is_real()) return *value;
        return call.known(input)->integers[0];
    };
    const bool is_known = call.scalar(0) && call.scalar(1) && call.scalar(2);
    if (const auto in_file = is_known ? std::nullopt : call.sizes_in_file(0); in_file && in_file->size() == 1)
        return call.output(0, call.emit("aten::arange.start_step", {{"start", Value(std::int64_t{0})},
                                                                    {"end", Value((*in_file)[0])},
                                                                    {"step", Value(std::int64_t{1})},
                                                                    {"dtype", Value(call.type(0).dtype)}}));
    call.output(
        0, call.emit(
               "aten::arange.start_step",
               {{"start", number(0)}, {"end", number(1)}, {"step", number(2)}, {"dtype", Value(call.type(0).dtype)}}));
}

/// ONNX lists all beginnings, then all ends; torch pairs from the last dimension on.
void pad(Call& call) {
    const Sizes pads = call.list_or_input("pads", 1).value_or(call.list("paddings", {}));
    Sizes axes(call.type(0).sizes.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    if (call.has(3)) axes = call.integers(3);
    if (pads.size() != 2 * axes.size()) call.refuse("its pads do not fit its dimensions");
    Sizes pairs(2 * call.type(0).sizes.size(), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto from_last = static_cast<std::size_t>(call.rank(0) - 1 - call.axis(axes[i], call.rank(0)));
        pairs[2 * from_last] = pads[i];
        pairs[2 * from_last + 1] = pads[axes.size() + i];
    }
    while (pairs.size() >= 2 && pairs.back() == 0 && pairs[pairs.size() - 2] == 0) pairs.resize(pairs.size() - 2);
    if (pairs.empty()) return call.forward(0, 0);
    std::string mode = call.text("mode", "constant");
    if (mode == "edge") mode = "replicate";
    if (mode == "wrap") mode = "circular";
    std::vector<Given> given{{"self", call.tensor(0)}, {"pad", Value(pairs)}, {"mode", Value(mode)}};
    if (const auto value = call.scalar(2); value && mode == "constant") given.emplace_back("value", Value(*value));
    call.output(0, call.emit("aten::pad", std::move(given)));
}

}  // namespace

std::span<const Row> shape_rows() {
    static constexpr std::array rows{
        Row{"Reshape", 1, &reshape},     Row{"Flatten", 1, &flatten},
        Row{"Squeeze", 1, &squeeze},     Row{"Unsqueeze", 1, &unsqueeze},
        Row{"Transpose", 1, &transpose}, Row{"Concat", 1, &concat},
        Row{"Split", 1, &split},         Row{"Slice", 1, &slice},
        Row{"Expand", 8, &expand},       Row{"Tile", 6, &tile},
        Row{"Cast", 6, &cast},           Row{"CastLike", 15, &cast_like},
        Row{"Identity", 1, &identity},   Row{"Dropout", 7, &dropout},
        Row{"Constant", 1, &constant},   Row{"ConstantOfShape", 9, &constant_of_shape},
        Row{"Range", 11, &range},        Row{"Pad", 2, &pad},
    };
    return rows;
}

}  // namespace joulecast::onnx
