#include "joulecast/forecast/prepared_operation.h"

#include "joulecast/features/products.h"
#include "joulecast/forecast/over_clocks.h"

namespace joulecast {

PreparedOperation prepare(const Operation& operation, const Device& device, Math math) {
    return on({operation, signature(operation), dimensions(operation), {}, {}, {}}, device, math);
}

PreparedOperation prepare(const Operation& operation, const DeviceModel& device) {
    return prepare(operation, device, place_of(device, device.point));
}

PreparedOperation prepare(const Operation& operation, const DeviceModel& device, const ClockPlace& clocks) {
    return at_clocks(prepare(operation, device.device, device.point.math), clocks);
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

double launches(const PreparedOperation& operation) {
    const Counts& backward = operation.dimensions.backward;
    if (backward.flop + backward.other_flop + backward.bytes_read + backward.bytes_written == 0) return 1;
    return operation.dimensions.weight_bytes > 0 ? 3 : 2;
}

double planned_bytes(const PreparedOperation& operation) {
    double bytes = operation.dimensions.output_bytes;
    for (const TensorType* tensor : tensors(operation.operation)) {
        if (tensor->requires_grad) bytes += static_cast<double>(byte_count(*tensor));
    }
    return bytes;
}

}  // namespace joulecast
