#include "joulecast/forecast/backward_products.h"

#include "joulecast/forecast/kernel_bounds.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

constexpr double tf32_across_depth = 1.4;
/// PyTorch sums over rows in two steps, the second over what blocks of the first left.
constexpr double latencies_of_sum = 2;

}  // namespace

double slowdown_across_depth(const PreparedOperation& operation, const Device& device) {
    const bool is_across =
        device.architecture == "hopper" && operation.family() == Family::matmul && is_in_tf32(operation);
    return is_across ? tf32_across_depth : 1;
}

double bias_gradient_s(const PreparedOperation& operation, const Device& device) {
    const TensorType* bias = find_tensor(operation.operation, "bias");
    if (bias == nullptr || !bias->requires_grad || !multiplies_matrices(operation.family())) return 0;
    return operation.dimensions.output_bytes / streamed_bytes_per_s(device) +
           latencies_of_sum * device.kernel_latency_s;
}

}  // namespace joulecast
