#include "joulecast/forecast/prepared_operation.h"

#include "joulecast/features/products.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/forecast/product_copies.h"
#include "joulecast/forecast/split_attention.h"
#include "joulecast/graph/family.h"

namespace joulecast {
namespace {

/// Of a call's launch, for a kernel that torch calls within it: BERT with split attention took the hosts of an H100 and
/// an H200 5.7 to 6.9 ms, where a whole launch each makes 7.3 to 9.8 and a half makes 6.0 to 6.7.
constexpr double share_of_inner = 0.5;

}  // namespace

PreparedOperation prepare(const Operation& operation, const Device& device, Math math) {
    PreparedOperation prepared = prepare_unnamed(operation, device, math);
    prepared.signature = signature(operation);
    return prepared;
}

PreparedOperation prepare_unnamed(const Operation& operation, const Device& device, Math math) {
    return on({operation, "", dimensions(operation), {}, {}, {}}, device, math);
}

PreparedOperation prepare(const Operation& operation, const DeviceModel& device) {
    return prepare(operation, device, place_of(device, device.point));
}

PreparedOperation prepare(const Operation& operation, const DeviceModel& device, const ClockPlace& clocks) {
    return at_clocks(prepare(operation, device.device, device.point.math), clocks);
}

PreparedOperation prepare_unnamed(const Operation& operation, const DeviceModel& device, const ClockPlace& clocks) {
    return at_clocks(prepare_unnamed(operation, device.device, device.point.math), clocks);
}

Roofline roofline_at_highest(const PreparedOperation& operation) {
    const ClockPlace& at = operation.clocks;
    return {operation.roofline.flop_s * at.x, operation.roofline.byte_s / at.bytes_slowdown,
            operation.roofline.products};
}

PreparedOperation at_clocks(PreparedOperation operation, const ClockPlace& clocks) {
    const Roofline highest = roofline_at_highest(operation);
    operation.roofline = {highest.flop_s / clocks.x, highest.byte_s * clocks.bytes_slowdown, highest.products};
    operation.clocks = clocks;
    return operation;
}

PreparedOperation on(PreparedOperation operation, const Device& device, Math math) {
    const Counts counts = operation.dimensions.forward + operation.dimensions.backward;
    operation.math = math_of(operation.operation, math);
    operation.roofline = roofline(counts, compute_dtype(operation.operation), device, operation.math);
    if (device.kind == Device::Kind::gpu)
        operation.roofline.products = products(operation.operation, operation.dimensions, device.units);
    operation.clocks = {};
    return operation;
}

NumberWidth number_width(const Operation& operation, Math math) {
    const Dtype type = compute_dtype(operation);
    if (type == Dtype::f32 && math == Math::tf32 && multiplies_matrices(recorded_family(operation)))
        return NumberWidth::bits16;
    switch (element_bytes(type)) {
        case 1:
            return NumberWidth::bits8;
        case 2:
            return NumberWidth::bits16;
        default:
            return NumberWidth::bits32;
    }
}

ResidualPlace residual_place(const PreparedOperation& operation, const Device& device) {
    return residual_place(operation.dimensions, number_width(operation.operation, operation.math), device);
}

double gradients(const Dimensions& call) {
    const Counts& backward = call.backward;
    if (backward.flop + backward.other_flop + backward.bytes_read + backward.bytes_written == 0) return 0;
    return call.weight_bytes > 0 ? 2 : 1;
}

double gradients(const PreparedOperation& operation) {
    return gradients(operation.dimensions);
}

double launches(const PreparedOperation& operation, const Device& device) {
    const bool is_split = runs_split_attention(operation.operation, device);
    const double passes = 1 + gradients(operation);
    const double more =
        is_split ? split_attention_kernels(operation.operation) - 1 : copying_kernels(operation.operation);
    if (passes == 1) return 1 + share_of_inner * more;
    return is_split ? passes * (1 + more) : passes + share_of_inner * more;
}

double planned_bytes(const PreparedOperation& operation) {
    double bytes = operation.dimensions.output_bytes;
    for (const TensorType* tensor : tensors(operation.operation)) {
        if (tensor->requires_grad) bytes += static_cast<double>(byte_count(*tensor));
    }
    return bytes;
}

}  // namespace joulecast
