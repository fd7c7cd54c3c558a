#include "joulecast/forecast/convolution_bias.h"

#include <algorithm>

#include "joulecast/forecast/depthwise_convolution.h"
#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/forecast/grouped_convolution.h"
#include "joulecast/forecast/tensor_core_convolution.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

bool adds_bias_apart(const PreparedOperation& convolution, const Device& device) {
    const Operation& operation = convolution.operation;
    if (convolution.family() != Family::convolution || !find_tensor(operation, "bias")) return false;
    if (device.vendor != "nvidia" || operation.target.starts_with("aten::conv_transpose")) return false;
    return runs_on_tensor_cores(convolution, device) || runs_depthwise_with_channels_last(convolution, device) ||
           runs_grouped_kernel(convolution, device);
}

}  // namespace

double bias_pass_s(const PreparedOperation& convolution, const Device& device) {
    if (!adds_bias_apart(convolution, device)) return 0;
    const Dimensions& size = convolution.dimensions;
    const double moving_s = 2 * size.output_bytes / streamed_bytes_per_s(device);
    const double adding_s = seconds_of_cycles(cycles_of_element_alone * size.elements_out, device);
    return std::max(moving_s, adding_s);
}

}  // namespace joulecast
