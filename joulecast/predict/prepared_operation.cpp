#include "joulecast/predict/prepared_operation.h"

namespace joulecast {

PreparedOperation prepare(const Operation& operation, const Device& device, Math math) {
    return on({operation, signature(operation), dimensions(operation), {}}, device, math);
}

PreparedOperation prepare(const Operation& operation, const DeviceModel& device) {
    return prepare(operation, device.device, device.point.math);
}

PreparedOperation on(PreparedOperation operation, const Device& device, Math math) {
    const Counts counts = operation.dimensions.forward + operation.dimensions.backward;
    operation.roofline = roofline(counts, compute_dtype(operation.operation), device, math);
    return operation;
}

double planned_bytes(const PreparedOperation& operation) {
    double bytes = operation.dimensions.output_bytes;
    for (const TensorType* tensor : tensors(operation.operation)) {
        if (tensor->requires_grad) bytes += static_cast<double>(byte_count(*tensor));
    }
    return bytes;
}

}  // namespace joulecast
