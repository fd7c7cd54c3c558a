#include "joulecast/forecast/batch_statistics.h"

#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

constexpr double kernels = 2;
/// Of what streams reach: on an A30 the forward pass takes 3.8 times what a pass over its input would, and both passes
/// 10.2 times, in the median of 68 layers each, where 3 and 8 are moved (docs/decisions/0034).
constexpr double share_of_stream = 0.78;

double streamed_s(const Counts& counts, const Device& device) {
    const auto bytes = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written);
    return bytes / (share_of_stream * streamed_bytes_per_s(device)) + kernels * device.kernel_latency_s;
}

}  // namespace

bool runs_batch_statistics(const PreparedOperation& normalization, const Device& device) {
    const Operation& operation = normalization.operation;
    return device.vendor == "nvidia" && operation.target == "aten::batch_norm" && takes_batch_statistics(operation);
}

double batch_statistics_forward_s(const PreparedOperation& normalization, const Device& device) {
    return streamed_s(normalization.dimensions.forward, device);
}

double batch_statistics_backward_s(const PreparedOperation& normalization, const Device& device) {
    return streamed_s(normalization.dimensions.backward, device);
}

}  // namespace joulecast
