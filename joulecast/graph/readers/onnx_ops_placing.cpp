#include <algorithm>
#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

/// Positions that lie side by side in the last dimension, as torch's index takes them: one tensor for each dimension.
Operands coordinates(Call& call, std::size_t input) {
    const Operand indices = call.tensor(input);
    if (indices.type.sizes.empty()) call.refuse("its indices have no dimensions");
    const std::int64_t count = indices.type.sizes.back();
    if (count < 1 || count > call.rank(0)) call.refuse("its indices do not fit its dimensions");
    Operands parts;
    for (std::int64_t i = 0; i < count; ++i)
        parts.emplace_back(
            call.emit("aten::select.int",
                      {{"self", indices}, {"dim", Value(std::ssize(indices.type.sizes) - 1)}, {"index", Value(i)}}));
    return parts;
}

void gather_nd(Call& call) {
    const std::int64_t batches = call.integer("batch_dims", 0);
    if (batches == 0)
        return call.output(
            0, call.emit("aten::index.Tensor", {{"self", call.tensor(0)}, {"indices", coordinates(call, 1)}}));
    const Sizes& data = call.type(0).sizes;
    const Sizes& indices = call.type(1).sizes;
    if (batches < 0 || batches >= std::ssize(indices) || indices.back() < 0 ||
        indices.back() > std::ssize(data) - batches)
        call.refuse("batch_dims does not fit its dimensions");
    Sizes sizes(indices.begin(), indices.end() - 1);
    sizes.insert(sizes.end(), data.begin() + batches + indices.back(), data.end());
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, sizes)});
}

void scatter_nd(Call& call) {
    const std::string reduction = call.text("reduction", "none");
    if (reduction != "none" && reduction != "add")
        return call.emit_named(std::vector{tensor_type(call.type(0).dtype, call.type(0).sizes)});
    std::vector<Given> given{{"self", call.tensor(0)}, {"indices", coordinates(call, 1)}, {"values", call.tensor(2)}};
    if (reduction == "add") given.emplace_back("accumulate", Value(true));
    call.output(0, call.emit("aten::index_put", std::move(given)));
}

void scatter_elements(Call& call) {
    const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
    const std::string reduction = call.text("reduction", "none");
    std::vector<Given> given{
        {"self", call.tensor(0)}, {"dim", Value(axis)}, {"index", call.tensor(1)}, {"src", call.tensor(2)}};
    if (reduction == "none") return call.output(0, call.emit("aten::scatter.src", std::move(given)));
    if (reduction == "add") return call.output(0, call.emit("aten::scatter_add", std::move(given)));
    given.emplace_back("reduce", Value(reduction == "mul" ? "prod" : "a" + reduction));
    call.output(0, call.emit("aten::scatter_reduce.two", std::move(given)));
}

/// Filled with the value for "not here", then the other scattered.
void one_hot(Call& call) {
    const auto depth = call.scalar(1);
    constexpr double deepest = 1e12;
    if (!depth || !(*depth >= 0.0 && *depth < deepest))
        call.refuse("its depth is negative, or only known when the network runs. Export it with a fixed number there");
    const std::int64_t rank = call.rank(0) + 1;
    const std::int64_t axis = call.axis(call.integer("axis", -1), rank);
    Sizes sizes = call.type(0).sizes;
    sizes.insert(sizes.begin() + axis, static_cast<std::int64_t>(*depth));
    const Dtype dtype = call.type(2).dtype;
    const Value zero = is_floating(dtype) ? Value(0.0) : Value(std::int64_t{0});
    const Value one = is_floating(dtype) ? Value(1.0) : Value(std::int64_t{1});
    const Operand filled =
        call.emit("aten::full", {{"size", Value(sizes)}, {"fill_value", zero}, {"dtype", Value(dtype)}});
    Operand index = call.tensor(0);
    if (index.type.dtype != Dtype::i64)
        index = call.emit("aten::to.dtype", {{"self", index}, {"dtype", Value(Dtype::i64)}});
    index = call.emit("aten::unsqueeze", {{"self", index}, {"dim", Value(axis)}});
    call.output(0, call.emit("aten::scatter.value",
                             {{"self", filled}, {"dim", Value(axis)}, {"index", index}, {"value", one}}));
}

void triangle(Call& call) {
    const std::string target = call.integer("upper", 1) != 0 ? "aten::triu" : "aten::tril";
    std::vector<Given> given{{"self", call.tensor(0)}};
    if (call.has(1)) given.emplace_back("diagonal", Value(static_cast<std::int64_t>(call.integers(1).at(0))));
    call.output(0, call.emit(target, std::move(given)));
}

std::int64_t block_of(const Call& call) {
    const std::int64_t block = call.integer("blocksize", 0);
    constexpr std::int64_t largest = 1 << 20;
    if (call.rank(0) != 4 || block < 1 || block > largest) call.refuse("it needs four dimensions and a blocksize");
    return block;
}

Operand rearranged(Call& call, const Sizes& apart, const Sizes& order, const Sizes& joined) {
    Operand result = call.emit("aten::reshape", {{"self", call.tensor(0)}, {"shape", Value(apart)}});
    result = call.emit("aten::permute", {{"self", result}, {"dims", Value(order)}});
    return call.emit("aten::reshape", {{"self", result}, {"shape", Value(joined)}});
}

/// Column, row, depth is pixel_shuffle; depth, column, row has the block's place in front of the channels.
void depth_to_space(Call& call) {
    const std::int64_t block = block_of(call);
    if (call.text("mode", "DCR") == "CRD")
        return call.output(
            0, call.emit("aten::pixel_shuffle", {{"self", call.tensor(0)}, {"upscale_factor", Value(block)}}));
    const Sizes sizes = call.type(0).sizes;
    if (sizes[1] % (block * block) != 0) call.refuse("its channels are not a multiple of blocksize squared");
    const std::int64_t channels = sizes[1] / (block * block);
    call.output(0, rearranged(call, {sizes[0], block, block, channels, sizes[2], sizes[3]}, {0, 3, 4, 1, 5, 2},
                              {sizes[0], channels, -1, sizes[3] * block}));
}

void space_to_depth(Call& call) {
    const std::int64_t block = block_of(call);
    const Sizes sizes = call.type(0).sizes;
    if (sizes[2] % block != 0 || sizes[3] % block != 0) call.refuse("its sizes are not multiples of blocksize");
    const std::int64_t height = sizes[2] / block;
    const std::int64_t width = sizes[3] / block;
    call.output(0, rearranged(call, {sizes[0], sizes[1], height, block, width, block}, {0, 3, 5, 1, 2, 4},
                              {sizes[0], -1, height, width}));
}

void grid_sample(Call& call) {
    const std::string mode = call.text("mode", "linear");
    const std::string padding = call.text("padding_mode", "zeros");
    const std::int64_t interpolation = mode == "nearest" ? 1 : (mode == "cubic" || mode == "bicubic" ? 2 : 0);
    const std::int64_t beyond = padding == "border" ? 1 : (padding == "reflection" ? 2 : 0);
    call.output(0, call.emit("aten::grid_sampler", {{"input", call.tensor(0)},
                                                    {"grid", call.tensor(1)},
                                                    {"interpolation_mode", Value(interpolation)},
                                                    {"padding_mode", Value(beyond)},
                                                    {"align_corners", Value(call.integer("align_corners", 0) != 0)}}));
}

/// Regions [count, 4 or 5] of an image: torchvision has it, no record has.
template <bool is_align>
void region_pool(Call& call) {
    if (call.rank(0) != 4 || call.rank(1) != 2) call.refuse("it needs an image and a list of regions");
    const Sizes pooled = is_align ? Sizes{call.integer("output_height", 1), call.integer("output_width", 1)}
                                  : call.list("pooled_shape", {});
    if (pooled.size() != 2) call.refuse("pooled_shape needs two numbers");
    const Sizes sizes{call.type(1).sizes[0], call.type(0).sizes[1], pooled[0], pooled[1]};
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, sizes)});
}

/// Its offsets lie at the places of its output.
void deformable_convolution(Call& call) {
    if (call.rank(0) != 4 || call.rank(1) != 4 || call.rank(2) != 4) call.refuse("it needs two spatial dimensions");
    const Sizes& offsets = call.type(2).sizes;
    const Sizes sizes{call.type(0).sizes[0], call.type(1).sizes[0], offsets[2], offsets[3]};
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, sizes)});
}

void eye_like(Call& call) {
    const Sizes sizes = call.type(0).sizes;
    if (sizes.size() != 2) call.refuse("its input has not two dimensions");
    const Dtype dtype = call.dtype("dtype", call.type(0).dtype);
    call.output(0, call.emit("aten::eye.m", {{"n", Value(sizes[0])}, {"m", Value(sizes[1])}, {"dtype", Value(dtype)}}));
}

/// A node that joulecast has no ATen call for, with an output like its input.
void named_like_input(Call& call) {
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, call.type(0).sizes)});
}

/// A sequence or optional: what is in it has no size that the file tells; what is taken out of it has.
void named_container(Call& call) {
    call.emit_named(std::vector{tensor_type(Dtype::u8, {0})});
}

constexpr std::array rows{
    Row{"GatherND", 11, &gather_nd},
    Row{"ScatterND", 11, &scatter_nd},
    Row{"ScatterElements", 11, &scatter_elements},
    Row{"Scatter", 9, &scatter_elements},
    Row{"OneHot", 9, &one_hot},
    Row{"Trilu", 14, &triangle},
    Row{"DepthToSpace", 1, &depth_to_space},
    Row{"SpaceToDepth", 1, &space_to_depth},
    Row{"GridSample", 16, &grid_sample},
    Row{"RoiAlign", 10, &region_pool<true>, {}, true},
    Row{"MaxRoiPool", 1, &region_pool<false>, {}, true},
    Row{"DeformConv", 19, &deformable_convolution, {}, true},
    Row{"EyeLike", 9, &eye_like},
    Row{"Hardmax", 1, &named_like_input, {}, true},
    Row{"ReverseSequence", 10, &named_like_input, {}, true},
    Row{"SequenceConstruct", 11, &named_container, {}, true},
    Row{"SequenceEmpty", 11, &named_container, {}, true},
    Row{"SequenceInsert", 11, &named_container, {}, true},
    Row{"SequenceErase", 11, &named_container, {}, true},
    Row{"SplitToSequence", 11, &named_container, {}, true},
    Row{"Optional", 15, &named_container, {}, true},
};

}  // namespace

std::span<const Row> placing_rows() {
    return rows;
}

}  // namespace joulecast::onnx
