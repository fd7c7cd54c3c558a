#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

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
class Resized {
  public:
    explicit Resized(const Call& call) : call_(call), sizes_(call.type(0).sizes), axes_(call.list("axes", {})) {
        if (axes_.empty()) {
            axes_.resize(sizes_.size());
            std::iota(axes_.begin(), axes_.end(), std::int64_t{0});
        }
        for (std::int64_t& axis : axes_) axis = call.axis(axis, call.rank(0));
    }

    Sizes sizes();

  private:
    void check_count(std::size_t count, const char* what) const {
        if (count != axes_.size()) call_.refuse(std::string("its ") + what + " do not fit its dimensions or its axes");
    }
    std::int64_t& size(std::size_t place) { return sizes_[static_cast<std::size_t>(axes_[place])]; }
    void scale(const std::vector<double>& scales);
    /// What tf_crop_and_resize keeps of an axis: between the region's start and end, as parts of its size.
    double kept(std::size_t place) const;
    void keep_aspect(const Sizes& wanted, bool larger);

    const Call& call_;
    Sizes sizes_;
    Sizes axes_;
};

double Resized::kept(std::size_t place) const {
    if (call_.text("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize") return 1.0;
    constexpr std::size_t region_input = 1;
    const Constant* region = call_.known(region_input);
    if (region == nullptr) call_.refuse_unknown(region_input, "the numbers");
    check_count(region->count() / 2, "regions");
    return region->number(axes_.size() + place) - region->number(place);
}

void Resized::scale(const std::vector<double>& scales) {
    check_count(scales.size(), "scales");
    constexpr double largest = 1e12;
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const double scaled = std::floor(static_cast<double>(size(i)) * kept(i) * scales[i]);
        if (!(scaled >= 0.0 && scaled < largest)) call_.refuse("a scale is negative or too large");
        size(i) = static_cast<std::int64_t>(scaled);
    }
}

/// One scale for all axes: the smallest (not_larger) or largest that the sizes ask for; halves are rounded up.
void Resized::keep_aspect(const Sizes& wanted, bool larger) {
    std::optional<double> scale;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (size(i) < 1 || wanted[i] < 0) call_.refuse("it keeps the aspect ratio of a dimension of size zero");
        const double own = static_cast<double>(wanted[i]) / static_cast<double>(size(i));
        scale = !scale ? own : larger ? std::max(*scale, own) : std::min(*scale, own);
    }
    constexpr double largest = 1e12;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double scaled = std::floor(static_cast<double>(size(i)) * *scale + 0.5);
        if (!(scaled < largest)) call_.refuse("a size is too large");
        size(i) = static_cast<std::int64_t>(scaled);
    }
}

Sizes Resized::sizes() {
    // Scales alone: an attribute of Upsample at first, then the second input, then the third.
    const bool is_first_form = call_.opset() < 11 || call_.node().op_type == "Upsample";
    const std::size_t scales_input = is_first_form ? 1 : 2;
    constexpr std::size_t sizes_input = 3;
    if (const Attribute* scales = is_first_form ? call_.attribute("scales") : nullptr; scales != nullptr) {
        scale(scales->reals);
    } else if (const Constant* scales_known = call_.known(scales_input);
               scales_known != nullptr && scales_known->is_real() && scales_known->count() > 0) {
        scale(scales_known->reals);
    } else if (const Constant* wanted = call_.known(sizes_input); wanted != nullptr && !wanted->is_real()) {
        check_count(wanted->count(), "sizes");
        const std::string policy = call_.text("keep_aspect_ratio_policy", "stretch");
        if (policy == "not_larger" || policy == "not_smaller") {
            keep_aspect(wanted->integers, policy == "not_smaller");
        } else {
            for (std::size_t i = 0; i < wanted->count(); ++i) size(i) = wanted->integers[i];
        }
    } else if (const auto in_file = call_.sizes_in_file(0); in_file && in_file->size() == sizes_.size()) {
        sizes_ = *in_file;
    } else {
        const std::size_t input = call_.has(sizes_input) ? sizes_input : scales_input;
        if (!call_.has(input)) call_.refuse("it has neither scales nor sizes");
        call_.refuse_unknown(input, "the numbers");
    }
    return sizes_;
}

/// Under the names that torch.nn.functional.interpolate exports; where batch or channels change too, its own.
void resize(Call& call) {
    const Sizes sizes = Resized(call).sizes();
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
    // torch smooths in two dimensions only.
    if (call.integer("antialias", 0) != 0 && spatial == 2 && is_image && mode != "nearest")
        target = (mode == "cubic" ? "aten::_upsample_bicubic2d_aa.vec" : "aten::_upsample_bilinear2d_aa.vec");
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

/// How many are different is the data's. Outputs: those, and for each of them or of the input a position.
void unique(Call& call) {
    const bool along_axis = call.attribute("axis") != nullptr;
    Operand x = call.tensor(0);
    const std::int64_t axis = along_axis ? call.axis(call.integer("axis", 0), call.rank(0)) : 0;
    Sizes sizes = along_axis ? x.type.sizes : Sizes{0};
    const std::int64_t own = along_axis ? sizes[static_cast<std::size_t>(axis)] : element_count(x.type);
    const std::int64_t count = call.size_at_run_time(0, static_cast<std::size_t>(axis));
    sizes[static_cast<std::size_t>(axis)] = count;
    std::vector<Given> given{{"self", x}};
    if (along_axis) given.emplace_back("dim", Value(axis));
    given.emplace_back("sorted", Value(call.integer("sorted", 1) != 0));
    given.emplace_back("return_inverse", Value(true));
    given.emplace_back("return_counts", Value(true));
    const auto results = call.emit_unknown(
        along_axis ? "aten::unique_dim" : "aten::_unique2", std::move(given),
        {tensor_type(x.type.dtype, sizes), tensor_type(Dtype::i64, along_axis ? Sizes{own} : x.type.sizes),
         tensor_type(Dtype::i64, {count})});
    call.output(0, results[0]);
    // The first of each: the smallest position that leads to it.
    if (call.wants(1)) {
        Operand inverse = results[1];
        if (inverse.type.sizes.size() != 1)
            inverse = call.emit("aten::reshape", {{"self", inverse}, {"shape", Value(Sizes{-1})}});
        const Operand places = call.emit("aten::arange", {{"end", Value(own)}, {"dtype", Value(Dtype::i64)}});
        const Operand none = call.emit(
            "aten::full", {{"size", Value(Sizes{count})}, {"fill_value", Value(own)}, {"dtype", Value(Dtype::i64)}});
        call.output(1, call.emit("aten::scatter_reduce.two", {{"self", none},
                                                              {"dim", Value(std::int64_t{0})},
                                                              {"index", inverse},
                                                              {"src", places},
                                                              {"reduce", Value(std::string("amin"))}}));
    }
    if (call.wants(2))
        call.output(2, results[1].type.sizes.size() == 1
                           ? results[1]
                           : call.emit("aten::reshape", {{"self", results[1]}, {"shape", Value(Sizes{-1})}}));
    call.output(3, results[2]);
}

/// How often each window of n numbers (some left out between them) is each entry of the pool.
Operand counted_grams(Call& call, const Operand& numbers, std::int64_t length, std::int64_t entries) {
    const std::int64_t last = call.rank(0) - 1;
    const std::int64_t skips = length == 1 ? 0 : call.integer("max_skip_count", 0);
    const Operand pool =
        call.constant("pool_" + std::to_string(length), tensor_type(numbers.type.dtype, {entries, length}));
    std::optional<Operand> sum;
    for (std::int64_t skip = 0; skip <= skips; ++skip) {
        const std::int64_t span = (length - 1) * (skip + 1) + 1;
        if (span > numbers.type.sizes.back()) break;
        Operand x = call.emit(
            "aten::unfold",
            {{"self", numbers}, {"dimension", Value(last)}, {"size", Value(span)}, {"step", Value(std::int64_t{1})}});
        x = call.emit("aten::slice.Tensor", {{"self", x},
                                             {"dim", Value(last + 1)},
                                             {"start", Value(std::int64_t{0})},
                                             {"end", Value(span)},
                                             {"step", Value(skip + 1)}});
        x = call.emit("aten::unsqueeze", {{"self", x}, {"dim", Value(last + 1)}});
        x = call.emit("aten::eq.Tensor", {{"self", x}, {"other", pool}});
        x = call.emit("aten::all.dim", {{"self", x}, {"dim", Value(last + 2)}});
        x = call.emit("aten::sum.dim_IntList", {{"self", x}, {"dim", Value(Sizes{last})}});
        sum = sum ? call.emit("aten::add.Tensor", {{"self", *sum}, {"other", x}}) : x;
    }
    if (sum) return *sum;
    Sizes none(call.type(0).sizes.begin(), call.type(0).sizes.end() - 1);
    none.push_back(entries);
    return call.emit("aten::zeros", {{"size", Value(none)}, {"dtype", Value(Dtype::i64)}});
}

/// Each window against each entry of a pool of n-grams, as tensors do it; runtimes look windows up in a tree instead.
void tf_idf(Call& call) {
    const Sizes starts = call.list("ngram_counts", {});
    const Sizes places = call.list("ngram_indexes", {});
    const Sizes pool = call.list("pool_int64s", {});
    const std::int64_t least = call.integer("min_gram_length", 1);
    const std::int64_t most = call.integer("max_gram_length", 1);
    constexpr std::int64_t longest = 64;
    if (call.rank(0) < 1 || least < 1 || most < least || most > longest || most > std::ssize(starts) ||
        places.empty() || call.integer("max_skip_count", 0) < 0 || call.integer("max_skip_count", 0) > longest)
        call.refuse("its lengths of n-grams, or its pool, are out of range");
    const Operand numbers = call.tensor(0);
    Operands counts;
    for (std::int64_t length = least; length <= most; ++length) {
        const auto at = static_cast<std::size_t>(length - 1);
        const std::int64_t end = at + 1 < starts.size() ? starts[at + 1] : std::ssize(pool);
        if (starts[at] < 0 || end > std::ssize(pool)) call.refuse("ngram_counts does not fit its pool");
        if (end - starts[at] >= length)
            counts.emplace_back(counted_grams(call, numbers, length, (end - starts[at]) / length));
    }
    if (counts.empty()) call.refuse("no n-gram of its pool has a length that it looks for");
    Operand joined = call.emit("aten::cat", {{"tensors", counts}, {"dim", Value(call.rank(0) - 1)}});
    joined = call.emit("aten::to.dtype", {{"self", joined}, {"dtype", Value(Dtype::f32)}});
    const std::int64_t found = joined.type.sizes.back();
    if (call.text("mode", "TF") != "TF")
        joined = call.emit("aten::mul.Tensor",
                           {{"self", joined}, {"other", call.constant("weights", tensor_type(Dtype::f32, {found}))}});
    Sizes sizes = joined.type.sizes;
    const std::int64_t largest = *std::ranges::max_element(places);
    constexpr std::int64_t largest_place = std::int64_t{1} << 31;
    if (largest < 0 || largest > largest_place) call.refuse("ngram_indexes are out of range");
    sizes.back() = largest + 1;
    const Operand zeros = call.emit("aten::zeros", {{"size", Value(sizes)}, {"dtype", Value(Dtype::f32)}});
    call.output(0, call.emit("aten::index_copy", {{"self", zeros},
                                                  {"dim", Value(call.rank(0) - 1)},
                                                  {"index", call.constant("places", tensor_type(Dtype::i64, {found}))},
                                                  {"source", joined}}));
}

void affine_grid(Call& call) {
    call.output(
        0, call.emit("aten::affine_grid_generator", {{"theta", call.tensor(0)},
                                                     {"size", Value(call.integers(1))},
                                                     {"align_corners", Value(call.integer("align_corners", 0) != 0)}}));
}

/// The same in other numbers of dimensions or with pads of two sides: added up in the padded image, which is then cut.
void columns_to_any_image(Call& call) {
    const Sizes image = call.integers(1);
    const Sizes kernel = call.integers(2);
    const Sizes pads = call.list("pads", Sizes(2 * image.size(), 0));
    if (kernel.size() != image.size() || pads.size() != 2 * image.size() || call.rank(0) != 3)
        call.refuse("its image, block and pads do not fit");
    const std::int64_t block = element_count(tensor_type(Dtype::u8, kernel));
    const Sizes& own = call.type(0).sizes;
    if (block < 1 || own[1] % block != 0) call.refuse("its channels are not a multiple of its block");
    const std::int64_t channels = own[1] / block;
    Sizes padded{own[0], channels};
    constexpr std::int64_t largest = std::int64_t{1} << 30;
    for (std::size_t i = 0; i < image.size(); ++i) {
        for (const std::int64_t number : {image[i], pads[i], pads[i + image.size()]})
            if (number < 0 || number > largest) call.refuse("a size or pad is out of range");
        padded.push_back(image[i] + pads[i] + pads[i + image.size()]);
    }
    const std::int64_t places = element_count(tensor_type(Dtype::u8, Sizes(padded.begin() + 2, padded.end())));
    const Operand columns =
        call.emit("aten::reshape", {{"self", call.tensor(0)}, {"shape", Value(Sizes{own[0], channels, -1})}});
    const Operand zeros = call.emit(
        "aten::zeros", {{"size", Value(Sizes{own[0], channels, places})}, {"dtype", Value(columns.type.dtype)}});
    const Operand positions = call.constant("positions", tensor_type(Dtype::i64, {columns.type.sizes.back()}));
    Operand y =
        call.emit("aten::index_add",
                  {{"self", zeros}, {"dim", Value(std::int64_t{2})}, {"index", positions}, {"source", columns}});
    y = call.emit("aten::reshape", {{"self", y}, {"shape", Value(padded)}});
    for (std::size_t i = 0; i < image.size(); ++i)
        if (padded[i + 2] != image[i])
            y = call.emit("aten::slice.Tensor", {{"self", y},
                                                 {"dim", Value(static_cast<std::int64_t>(i + 2))},
                                                 {"start", Value(pads[i])},
                                                 {"end", Value(pads[i] + image[i])},
                                                 {"step", Value(std::int64_t{1})}});
    call.output(0, y);
}

/// Blocks [batch, channels x kernel, places] summed into an image.
void columns_to_image(Call& call) {
    const Sizes pads = call.list("pads", {0, 0, 0, 0});
    if (call.integers(1).size() != 2 || pads.size() != 4 || pads[0] != pads[2] || pads[1] != pads[3])
        return columns_to_any_image(call);
    call.output(0, call.emit("aten::col2im", {{"self", call.tensor(0)},
                                              {"output_size", Value(call.integers(1))},
                                              {"kernel_size", Value(call.integers(2))},
                                              {"dilation", Value(call.list("dilations", {1, 1}))},
                                              {"padding", Value(Sizes{pads[0], pads[1]})},
                                              {"stride", Value(call.list("strides", {1, 1}))}}));
}

}  // namespace

std::span<const Row> indexing_rows() {
    static constexpr std::array rows{
        Row{"Gather", 1, &gather},    Row{"GatherElements", 11, &gather_elements}, Row{"Resize", 10, &resize},
        Row{"Upsample", 7, &resize},  Row{"AffineGrid", 20, &affine_grid},         Row{"Col2Im", 18, &columns_to_image},
        Row{"NonZero", 9, &non_zero}, Row{"TfIdfVectorizer", 9, &tf_idf},          Row{"Unique", 11, &unique},
    };
    return rows;
}

}  // namespace joulecast::onnx
