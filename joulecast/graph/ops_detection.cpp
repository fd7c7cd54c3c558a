// What finds objects in images, from torchvision: boxes that overlap, regions of an image, convolutions with offsets.

#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Of all boxes at most; how many are left is the data's.
Types nms_outputs(const Operation& operation) {
    const TensorType& boxes = tensor(operation, "dets");
    if (rank(boxes) != 2 || boxes.sizes[1] != 4) refuse(operation, "boxes have two dimensions, the second of four");
    return {make(Dtype::i64, {boxes.sizes[0]})};
}

/// Overlap of each pair once: four extrema, three products, two sums, a comparison.
Counts nms_forward(const Operation& operation) {
    const std::int64_t boxes = nms_outputs(operation).front().sizes[0];
    constexpr std::int64_t arithmetic_of_a_pair = 10;
    const std::int64_t pairs = checked(operation, boxes, std::max<std::int64_t>(boxes - 1, 0)) / 2;
    return {0, checked(operation, arithmetic_of_a_pair, pairs), input_bytes(operation), bytes(nms_outputs(operation))};
}

Types region_outputs(const Operation& operation) {
    const TensorType& image = tensor(operation, "input");
    const TensorType& regions = tensor(operation, "rois");
    if (rank(image) != 4 || rank(regions) != 2 || regions.sizes[1] != 5)
        refuse(operation, "it needs an image of four dimensions and regions of five numbers");
    return {make(image.dtype, {regions.sizes[0], image.sizes[1], integer(operation, "pooled_height"),
                               integer(operation, "pooled_width")})};
}

/// Points interpolated between four neighbours (4 products, 3 sums) and averaged. Without a number of points
/// torchvision takes as many as pixels lie in a bin, which the data decides: 2 x 2 then.
Counts region_forward(const Operation& operation) {
    const Types output = region_outputs(operation);
    const std::int64_t ratio = integer(operation, "sampling_ratio");
    const std::int64_t points = ratio > 0 ? checked(operation, ratio, ratio) : 4;
    constexpr std::int64_t arithmetic_of_a_point = 8;
    return {0, checked(operation, checked(operation, points, arithmetic_of_a_point), elements(output)),
            input_bytes(operation), bytes(output)};
}

/// The offsets lie at the places of the output.
Types deformed_outputs(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    const TensorType& weight = tensor(operation, "weight");
    const TensorType& offset = tensor(operation, "offset");
    if (rank(input) != 4 || rank(weight) != 4 || rank(offset) != 4)
        refuse(operation, "input, weight and offset need four dimensions");
    return {make(input.dtype, {input.sizes[0], weight.sizes[0], offset.sizes[2], offset.sizes[3]})};
}

/// Columns interpolated between four neighbours, then the product of a convolution.
Counts deformed_forward(const Operation& operation) {
    const Types output = deformed_outputs(operation);
    const TensorType& weight = tensor(operation, "weight");
    const std::int64_t kernel = checked(operation, weight.sizes[2], weight.sizes[3]);
    const std::int64_t depth = checked(operation, weight.sizes[1], kernel);
    const Sizes& sizes = output.front().sizes;
    const std::int64_t places = checked(operation, sizes[0], checked(operation, sizes[2], sizes[3]));
    const std::int64_t columns =
        checked(operation, places, checked(operation, tensor(operation, "input").sizes[1], kernel));
    constexpr std::int64_t arithmetic_of_a_point = 8;
    return {checked(operation, 2, checked(operation, depth, elements(output))),
            checked(operation, arithmetic_of_a_point, columns), input_bytes(operation), bytes(output)};
}

constexpr std::array rows{
    waiting(Row{"torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", Family::other,
                &nms_outputs, &nms_forward}),
    Row{"torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
        "pooled_width, int sampling_ratio, bool aligned) -> Tensor",
        Family::indexing, &region_outputs, &region_forward, &gradient_streamed<&region_outputs>},
    Row{"torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
        "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
        "SymInt offset_groups, bool use_mask) -> Tensor",
        Family::other, &deformed_outputs, &deformed_forward},
};

}  // namespace

std::span<const Row> detection_rows() {
    return rows;
}

}  // namespace joulecast::records
