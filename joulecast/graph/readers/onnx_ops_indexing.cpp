#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

/// A single known position is a view, rows of a table an embedding, a vector of positions index_select.
void gather(Call& call) {
    const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
    const auto position = call.scalar(1);
    if (position && call.rank(1) == 0 && !call.known(1)->is_real())
        return call.output(0, call.emit("aten::select.int", {{"self", call.tensor(0)},
                                                             {"dim", Value(axis)},
                                                             {"index", Value(call.known(1)->integers[0])}}));
    if (axis == 0 && call.rank(0) == 2 && call.is_weight(0))
        return call.output(0, call.emit("aten::embedding", {{"weight", call.tensor(0)}, {"indices", call.tensor(1)}}));
    if (call.rank(1) == 1)
        return call.output(0, call.emit("aten::index_select",
                                        {{"self", call.tensor(0)}, {"dim", Value(axis)}, {"index", call.tensor(1)}}));
    Operands indices(static_cast<std::size_t>(axis));
    indices.emplace_back(call.tensor(1));
    call.output(0, call.emit("aten::index.Tensor", {{"self", call.tensor(0)}, {"indices", std::move(indices)}}));
}

void gather_elements(Call& call) {
    const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
    call.output(0,
                call.emit("aten::gather", {{"self", call.tensor(0)}, {"dim", Value(axis)}, {"index", call.tensor(1)}}));
}

/// The sizes that scales or sizes ask for, in the order of the input's dimensions.
Sizes resized(const Call& call) {
    const Sizes& own = call.type(0).sizes;
    const bool is_first_form = call.opset() < 11;  // scales only, as second input
    const std::size_t scales_input = is_first_form ? 1 : 2;
    Sizes sizes = own;
    const Sizes axes = call.list("axes", {});
    const auto place = [&](std::size_t i, std::size_t count) {
        if (axes.empty() && count != own.size()) call.refuse("its sizes or scales do not fit its dimensions");
        if (!axes.empty() && count != axes.size()) call.refuse("its sizes or scales do not fit its axes");
        return axes.empty() ? i : static_cast<std::size_t>(call.axis(axes[i], std::ssize(own)));
    };
    if (const Constant* scales = call.known(scales_input); scales != nullptr && scales->count() > 0) {
        constexpr double largest = 1e12;
        for (std::size_t i = 0; i < scales->count(); ++i) {
            const std::size_t d = place(i, scales->count());
            const double size = std::floor(static_cast<double>(own[d]) * scales->number(i));
            if (!(size >= 0.0 && size < largest)) call.refuse("a scale is negative or too large");
            sizes[d] = static_cast<std::int64_t>(size);
        }
        return sizes;
    }
    if (!call.has(3)) call.refuse("its scales are only known when the network runs. Export it with fixed scales");
    const Sizes wanted = call.integers(3);
    for (std::size_t i = 0; i < wanted.size(); ++i) sizes[place(i, wanted.size())] = wanted[i];
    return sizes;
}

/// Under the names that torch.nn.functional.interpolate exports; where batch or channels change too, its own.
void resize(Call& call) {
    const Sizes sizes = resized(call);
    const Operand x = call.tensor(0);
    const TensorType result = tensor_type(x.type.dtype, sizes);
    const std::int64_t spatial = call.rank(0) - 2;
    const bool is_image = spatial >= 1 && spatial <= 3 && sizes[0] == x.type.sizes[0] && sizes[1] == x.type.sizes[1];
    const std::string mode = call.text("mode", "nearest");
    const std::string rank = std::to_string(spatial) + "d.vec";
    std::string target;
    if (mode == "nearest") target = "aten::upsample_nearest" + rank;
    if (mode == "linear") {
        static constexpr std::array names = {"linear", "bilinear", "trilinear"};
        target = is_image ? std::string("aten::upsample_") + names[static_cast<std::size_t>(spatial - 1)] + rank : "";
    }
    if (mode == "cubic" && spatial == 2) target = "aten::upsample_bicubic" + rank;
    if (!is_image || target.empty()) return call.emit_named(std::vector{result});
    std::vector<Given> given{{"input", x}, {"output_size", Value(Sizes(sizes.begin() + 2, sizes.end()))}};
    if (mode != "nearest")
        given.emplace_back("align_corners",
                           Value(call.text("coordinate_transformation_mode", "half_pixel") == "align_corners"));
    given.emplace_back("scale_factors", Value(None{}));
    call.output(0, call.emit_unknown(target, std::move(given), {result}).at(0));
}

/// ONNX lists the positions by dimension, torch by element; their number is the data's.
void non_zero(Call& call) {
    const std::int64_t count = call.size_at_run_time(0, 1);
    const std::int64_t rank = std::max<std::int64_t>(call.rank(0), 1);
    const Operand positions =
        call.emit_unknown("aten::nonzero", {{"self", call.tensor(0)}}, {tensor_type(Dtype::i64, {count, rank})}).at(0);
    call.output(0, call.emit("aten::t", {{"self", positions}}));
}

void affine_grid(Call& call) {
    call.output(
        0, call.emit("aten::affine_grid_generator", {{"theta", call.tensor(0)},
                                                     {"size", Value(call.integers(1))},
                                                     {"align_corners", Value(call.integer("align_corners", 0) != 0)}}));
}

/// Blocks [batch, channels x kernel, places] summed into an image.
void columns_to_image(Call& call) {
    const Sizes pads = call.list("pads", {0, 0, 0, 0});
    if (call.integers(1).size() != 2 || pads.size() != 4 || pads[0] != pads[2] || pads[1] != pads[3])
        return call.emit_named();
    call.output(0, call.emit("aten::col2im", {{"self", call.tensor(0)},
                                              {"output_size", Value(call.integers(1))},
                                              {"kernel_size", Value(call.integers(2))},
                                              {"dilation", Value(call.list("dilations", {1, 1}))},
                                              {"padding", Value(Sizes{pads[0], pads[1]})},
                                              {"stride", Value(call.list("strides", {1, 1}))}}));
}

constexpr std::array rows{
    Row{"Gather", 1, &gather},    Row{"GatherElements", 11, &gather_elements}, Row{"Resize", 10, &resize},
    Row{"Upsample", 7, &resize},  Row{"AffineGrid", 20, &affine_grid},         Row{"Col2Im", 18, &columns_to_image},
    Row{"NonZero", 9, &non_zero},
};

}  // namespace

std::span<const Row> indexing_rows() {
    return rows;
}

}  // namespace joulecast::onnx
