#include <algorithm>
#include <array>
#include <numeric>

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
    const Sizes data = call.type(0).sizes;
    const Sizes own = call.type(1).sizes;
    if (batches < 0 || batches >= std::ssize(own) || own.back() < 0 || own.back() > std::ssize(data) - batches)
        call.refuse("batch_dims does not fit its dimensions");
    // Each batch looks up in itself: positions along the batches stand before those that are given.
    Operands places;
    for (std::size_t d = 0; d < static_cast<std::size_t>(batches); ++d) {
        Sizes along(own.size() - 1, 1);
        along[d] = data[d];
        const Operand numbers = call.emit("aten::arange", {{"end", Value(data[d])}, {"dtype", Value(Dtype::i64)}});
        places.emplace_back(call.emit("aten::reshape", {{"self", numbers}, {"shape", Value(along)}}));
    }
    for (auto& part : coordinates(call, 1)) places.push_back(std::move(part));
    call.output(0, call.emit("aten::index.Tensor", {{"self", call.tensor(0)}, {"indices", std::move(places)}}));
}

void scatter_nd(Call& call) {
    const std::string reduction = call.text("reduction", "none");
    const Operands places = coordinates(call, 1);
    Operand values = call.tensor(2);
    if (reduction != "none" && reduction != "add") {
        // torch puts without combining: with what is there already.
        const Operand there = call.emit("aten::index.Tensor", {{"self", call.tensor(0)}, {"indices", places}});
        const std::string target = reduction == "mul"   ? "aten::mul.Tensor"
                                   : reduction == "max" ? "aten::maximum"
                                                        : "aten::minimum";
        values = call.emit(target, {{"self", there}, {"other", values}});
    }
    std::vector<Given> given{{"self", call.tensor(0)}, {"indices", places}, {"values", values}};
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
    const std::int64_t rank = call.rank(0) + 1;
    const std::int64_t axis = call.axis(call.integer("axis", -1), rank);
    auto depth = call.scalar(1);
    if (const auto in_file = depth ? std::nullopt : call.sizes_in_file(0); in_file && std::ssize(*in_file) == rank)
        depth = static_cast<double>((*in_file)[static_cast<std::size_t>(axis)]);
    constexpr double deepest = 1e12;
    if (!depth) call.refuse_unknown(1, "the numbers");
    if (!(*depth >= 0.0 && *depth < deepest)) call.refuse("its depth is negative or too large");
    Sizes sizes = call.type(0).sizes;
    sizes.insert(sizes.begin() + axis, static_cast<std::int64_t>(*depth));
    const Dtype dtype = call.type(2).dtype;
    const Value zero = is_floating(dtype) ? Value(0.0) : Value(std::int64_t{0});
    const Value value = is_floating(dtype) ? Value(1.0) : Value(std::int64_t{1});
    const Operand filled =
        call.emit("aten::full", {{"size", Value(sizes)}, {"fill_value", zero}, {"dtype", Value(dtype)}});
    Operand index = call.tensor(0);
    if (index.type.dtype != Dtype::i64)
        index = call.emit("aten::to.dtype", {{"self", index}, {"dtype", Value(Dtype::i64)}});
    index = call.emit("aten::unsqueeze", {{"self", index}, {"dim", Value(axis)}});
    call.output(0, call.emit("aten::scatter.value",
                             {{"self", filled}, {"dim", Value(axis)}, {"index", index}, {"value", value}}));
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

/// Regions [count, 5] of an image.
void max_region_pool(Call& call) {
    if (call.rank(0) != 4 || call.rank(1) != 2) call.refuse("it needs an image and a list of regions");
    const Sizes pooled = call.list("pooled_shape", {});
    if (pooled.size() != 2) call.refuse("pooled_shape needs two numbers");
    const Sizes sizes{call.type(1).sizes[0], call.type(0).sizes[1], pooled[0], pooled[1]};
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, sizes)});
}

/// Regions [count, 4], and the image of each apart; torchvision has it in front.
void region_align(Call& call) {
    if (call.rank(0) != 4 || call.rank(1) != 2 || call.rank(2) != 1)
        call.refuse("it needs an image, a list of regions and a list of images");
    const Operand regions = call.tensor(1);
    Operand images = call.emit("aten::unsqueeze", {{"self", call.tensor(2)}, {"dim", Value(std::int64_t{1})}});
    images = call.emit("aten::to.dtype", {{"self", images}, {"dtype", Value(regions.type.dtype)}});
    const Operand both =
        call.emit("aten::cat", {{"tensors", Operands{images, regions}}, {"dim", Value(std::int64_t{1})}});
    const bool is_aligned =
        call.opset() >= 16 && call.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
    call.output(0, call.emit("torchvision::roi_align", {{"input", call.tensor(0)},
                                                        {"rois", both},
                                                        {"spatial_scale", Value(call.real("spatial_scale", 1.0))},
                                                        {"pooled_height", Value(call.integer("output_height", 1))},
                                                        {"pooled_width", Value(call.integer("output_width", 1))},
                                                        {"sampling_ratio", Value(call.integer("sampling_ratio", 0))},
                                                        {"aligned", Value(is_aligned)}}));
}

/// torchvision takes a mask and a bias whether there is one or not.
void deformable_convolution(Call& call) {
    if (call.rank(0) != 4 || call.rank(1) != 4 || call.rank(2) != 4) call.refuse("it needs two spatial dimensions");
    const Operand x = call.tensor(0);
    const auto or_zeros = [&](std::size_t input, const Sizes& sizes) {
        if (call.has(input)) return call.tensor(input);
        return call.emit("aten::zeros", {{"size", Value(sizes)}, {"dtype", Value(x.type.dtype)}});
    };
    const Sizes strides = call.list("strides", {1, 1});
    const Sizes pads = call.list("pads", {0, 0, 0, 0});
    const Sizes dilations = call.list("dilations", {1, 1});
    if (strides.size() != 2 || pads.size() != 4 || dilations.size() != 2)
        call.refuse("its strides, pads and dilations need two dimensions");
    const Operand mask = or_zeros(4, {x.type.sizes[0], 0, 0, 0});
    const Operand bias = or_zeros(3, {call.type(1).sizes[0]});
    call.output(0, call.emit("torchvision::deform_conv2d", {{"input", x},
                                                            {"weight", call.tensor(1)},
                                                            {"offset", call.tensor(2)},
                                                            {"mask", mask},
                                                            {"bias", bias},
                                                            {"stride_h", Value(strides[0])},
                                                            {"stride_w", Value(strides[1])},
                                                            {"pad_h", Value(pads[0])},
                                                            {"pad_w", Value(pads[1])},
                                                            {"dilation_h", Value(dilations[0])},
                                                            {"dilation_w", Value(dilations[1])},
                                                            {"groups", Value(call.integer("group", 1))},
                                                            {"offset_groups", Value(call.integer("offset_group", 1))},
                                                            {"use_mask", Value(call.has(4))}}));
}

/// Boxes [images, boxes, 4] and scores [images, classes, boxes], one class of one image after the other. The rows of
/// the output, image, class and box, are those that are left of all.
void non_max_suppression(Call& call) {
    if (call.rank(0) != 3 || call.rank(1) != 3) call.refuse("its boxes and scores need three dimensions");
    const std::int64_t images = call.type(1).sizes[0];
    const std::int64_t classes = call.type(1).sizes[1];
    const std::int64_t total = call.size_at_run_time(0, 0);
    constexpr std::int64_t most = 1024;
    if (images < 1 || classes < 1 || images > most || classes > most || images * classes > most)
        return call.emit_named(std::vector{tensor_type(Dtype::i64, {total, 3})});
    const auto part = [&](const Operand& of, std::int64_t index) {
        return call.emit("aten::select.int", {{"self", of}, {"dim", Value(std::int64_t{0})}, {"index", Value(index)}});
    };
    const std::int64_t each = total / (images * classes);
    Operands kept;
    for (std::int64_t image = 0; image < images; ++image) {
        const Operand boxes = part(call.tensor(0), image);
        const Operand scores = part(call.tensor(1), image);
        for (std::int64_t kind = 0; kind < classes; ++kind) {
            const std::int64_t count = kept.empty() ? total - each * (images * classes - 1) : each;
            kept.emplace_back(call.emit_unknown("torchvision::nms",
                                                {{"dets", boxes},
                                                 {"scores", part(scores, kind)},
                                                 {"iou_threshold", Value(call.scalar(3).value_or(0.0))}},
                                                {tensor_type(Dtype::i64, {count})})
                                  .at(0));
        }
    }
    const Operand chosen = call.emit("aten::cat", {{"tensors", kept}});
    const Operand place = call.emit("aten::zeros", {{"size", Value(Sizes{total})}, {"dtype", Value(Dtype::i64)}});
    call.output(
        0, call.emit("aten::stack", {{"tensors", Operands{place, place, chosen}}, {"dim", Value(std::int64_t{1})}}));
}

void eye_like(Call& call) {
    const Sizes sizes = call.type(0).sizes;
    if (sizes.size() != 2) call.refuse("its input has not two dimensions");
    const Dtype dtype = call.dtype("dtype", call.type(0).dtype);
    call.output(0, call.emit("aten::eye.m", {{"n", Value(sizes[0])}, {"m", Value(sizes[1])}, {"dtype", Value(dtype)}}));
}

/// One where the largest lies, zero elsewhere; until operator set 12 over all that follows the axis.
void hardmax(Call& call) {
    const bool is_flat = call.opset() < 13;
    const std::int64_t axis = call.axis(call.integer("axis", is_flat ? 1 : -1), call.rank(0));
    Operand x = call.tensor(0);
    const Sizes own = x.type.sizes;
    std::int64_t dim = axis;
    if (is_flat && axis + 1 < call.rank(0)) {
        const TensorType before = tensor_type(Dtype::u8, Sizes(own.begin(), own.begin() + axis));
        x = call.emit("aten::reshape", {{"self", x}, {"shape", Value(Sizes{element_count(before), -1})}});
        dim = 1;
    }
    const Operand largest = call.emit("aten::argmax", {{"self", x}, {"dim", Value(dim)}, {"keepdim", Value(true)}});
    const Operand zeros = call.emit("aten::zeros", {{"size", Value(x.type.sizes)}, {"dtype", Value(x.type.dtype)}});
    x = call.emit("aten::scatter.value",
                  {{"self", zeros}, {"dim", Value(dim)}, {"index", largest}, {"value", Value(1.0)}});
    if (x.type.sizes != own) x = call.emit("aten::reshape", {{"self", x}, {"shape", Value(own)}});
    call.output(0, x);
}

/// The middle of each axis, or zeros on both sides of it.
void center_crop_pad(Call& call) {
    const Sizes wanted = call.integers(1);
    Sizes axes(wanted.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    axes = call.list("axes", axes);
    if (axes.size() != wanted.size()) call.refuse("its shape does not fit its axes");
    Operand x = call.tensor(0);
    Sizes pairs(2 * call.type(0).sizes.size(), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t axis = call.axis(axes[i], call.rank(0));
        const std::int64_t size = x.type.sizes[static_cast<std::size_t>(axis)];
        if (wanted[i] < 0) call.refuse("a size is negative");
        if (wanted[i] < size) {
            const std::int64_t start = (size - wanted[i]) / 2;
            x = call.emit("aten::slice.Tensor", {{"self", x},
                                                 {"dim", Value(axis)},
                                                 {"start", Value(start)},
                                                 {"end", Value(start + wanted[i])},
                                                 {"step", Value(std::int64_t{1})}});
        } else {
            const auto from_last = static_cast<std::size_t>(call.rank(0) - 1 - axis);
            pairs[2 * from_last] = (wanted[i] - size) / 2;
            pairs[2 * from_last + 1] = wanted[i] - size - pairs[2 * from_last];
        }
    }
    if (std::ranges::any_of(pairs, [](std::int64_t pad) { return pad != 0; }))
        x = call.emit("aten::constant_pad_nd", {{"self", x}, {"pad", Value(pairs)}});
    call.output(0, x);
}

/// The places where a condition holds, looked up one by one; how many they are is the data's.
void compress(Call& call) {
    const Attribute* given = call.attribute("axis");
    Operand x = call.tensor(0);
    if (given == nullptr && call.rank(0) != 1)
        x = call.emit("aten::reshape", {{"self", x}, {"shape", Value(Sizes{-1})}});
    const std::int64_t axis = call.axis(given == nullptr ? 0 : call.integer("axis", 0), std::ssize(x.type.sizes));
    const std::int64_t count = call.size_at_run_time(0, static_cast<std::size_t>(axis));
    Operand places =
        call.emit_unknown("aten::nonzero", {{"self", call.tensor(1)}}, {tensor_type(Dtype::i64, {count, 1})}).at(0);
    places = call.emit("aten::select.int",
                       {{"self", places}, {"dim", Value(std::int64_t{1})}, {"index", Value(std::int64_t{0})}});
    call.output(0, call.emit("aten::index_select", {{"self", x}, {"dim", Value(axis)}, {"index", places}}));
}

/// Without output_shape what the kernel covers.
void max_unpool(Call& call) {
    const std::int64_t spatial = call.rank(0) - 2;
    if (spatial != 2) return call.emit_named();
    const Sizes kernel = call.list("kernel_shape", {});
    const Sizes strides = call.list("strides", Sizes(kernel.size(), 1));
    const Sizes pads = call.list("pads", Sizes(2 * kernel.size(), 0));
    if (kernel.size() != 2 || strides.size() != 2 || pads.size() != 4)
        call.refuse("its kernel, strides and pads need two dimensions");
    Sizes sizes;
    if (call.has(2)) {
        const Sizes shape = call.sizes_by_input(2);
        if (shape.size() != 4) call.refuse("output_shape needs four numbers");
        sizes.assign(shape.begin() + 2, shape.end());
    }
    constexpr std::int64_t largest = std::int64_t{1} << 30;
    for (std::size_t i = 0; i < kernel.size() && !call.has(2); ++i) {
        for (const std::int64_t number : {kernel[i], strides[i], pads[i], pads[i + 2], call.type(0).sizes[i + 2]})
            if (number < 0 || number > largest) call.refuse("a size, kernel, stride or pad is out of range");
        sizes.push_back((call.type(0).sizes[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + 2]);
    }
    call.output(0, call.emit("aten::max_unpool2d",
                             {{"self", call.tensor(0)}, {"indices", call.tensor(1)}, {"output_size", Value(sizes)}}));
}

/// Every element goes where its sequence's length sends it: a lookup along the time axis.
void reverse_sequence(Call& call) {
    const Operand x = call.tensor(0);
    const std::int64_t time = call.axis(call.integer("time_axis", 0), call.rank(0));
    const std::int64_t batch = call.axis(call.integer("batch_axis", 1), call.rank(0));
    const std::int64_t steps = x.type.sizes[static_cast<std::size_t>(time)];
    Sizes over_time(x.type.sizes.size(), 1);
    Sizes over_batch(x.type.sizes.size(), 1);
    over_time[static_cast<std::size_t>(time)] = steps;
    over_batch[static_cast<std::size_t>(batch)] = x.type.sizes[static_cast<std::size_t>(batch)];
    Operand place = call.emit("aten::arange", {{"end", Value(steps)}, {"dtype", Value(Dtype::i64)}});
    place = call.emit("aten::reshape", {{"self", place}, {"shape", Value(over_time)}});
    const Operand lengths = call.emit("aten::reshape", {{"self", call.tensor(1)}, {"shape", Value(over_batch)}});
    const Operand mirrored = call.emit("aten::sub.Tensor", {{"self", lengths}, {"other", place}});
    const Operand inside = call.emit("aten::lt.Tensor", {{"self", place}, {"other", lengths}});
    Operand index = call.emit("aten::where.self", {{"condition", inside}, {"self", mirrored}, {"other", place}});
    index = call.emit("aten::expand", {{"self", index}, {"size", Value(x.type.sizes)}});
    call.output(0, call.emit("aten::gather", {{"self", x}, {"dim", Value(time)}, {"index", index}}));
}

/// Columns of a matrix; a vector is a row.
void pick_features(Call& call) {
    Operand x = call.tensor(0);
    if (call.rank(0) == 1) x = call.emit("aten::unsqueeze", {{"self", x}, {"dim", Value(std::int64_t{0})}});
    const Operand places = call.emit("aten::reshape", {{"self", call.tensor(1)}, {"shape", Value(Sizes{-1})}});
    call.output(0, call.emit("aten::index_select",
                             {{"self", x}, {"dim", Value(std::ssize(x.type.sizes) - 1)}, {"index", places}}));
}

void binarize(Call& call) {
    const Operand x = call.tensor(0);
    const Operand above = call.emit("aten::gt.Scalar", {{"self", x}, {"other", Value(call.real("threshold", 0.0))}});
    call.output(0, call.emit("aten::to.dtype", {{"self", above}, {"dtype", Value(x.type.dtype)}}));
}

}  // namespace

std::span<const Row> placing_rows() {
    static constexpr std::array rows{
        Row{"GatherND", 11, &gather_nd},
        Row{"ScatterND", 11, &scatter_nd},
        Row{"ScatterElements", 11, &scatter_elements},
        Row{"Scatter", 9, &scatter_elements},
        Row{"OneHot", 9, &one_hot},
        Row{"Trilu", 14, &triangle},
        Row{"DepthToSpace", 1, &depth_to_space},
        Row{"SpaceToDepth", 1, &space_to_depth},
        Row{"GridSample", 16, &grid_sample},
        Row{"RoiAlign", 10, &region_align},
        Row{"MaxRoiPool", 1, &max_region_pool, {}, true},
        Row{"DeformConv", 19, &deformable_convolution},
        Row{"NonMaxSuppression", 10, &non_max_suppression},
        Row{"ArrayFeatureExtractor", 1, &pick_features, "ai.onnx.ml"},
        Row{"Binarizer", 1, &binarize, "ai.onnx.ml"},
        Row{"EyeLike", 9, &eye_like},
        Row{"Hardmax", 1, &hardmax},
        Row{"ReverseSequence", 10, &reverse_sequence},
        Row{"CenterCropPad", 18, &center_crop_pad},
        Row{"Compress", 9, &compress},
        Row{"MaxUnpool", 9, &max_unpool},
    };
    return rows;
}

}  // namespace joulecast::onnx
