#include "joulecast/forecast/batch_statistics.h"

#include <algorithm>
#include <cmath>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

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

/// In bf16, which cuDNN does not take: one block of 512 threads sums up a channel, and up to four of them share a unit.
constexpr double blocks_of_unit = 4;
/// Of one block alone, and more for each of the others on its unit, for an element of its channel; forward in one of
/// the three passes, backward in two. Five layers on an H100 take 1.0 to 1.25 times this.
constexpr double cycles_alone = 5, cycles_of_other = 1.1;
constexpr double passes_forward = 1, passes_backward = 2, passes_of_both = 3;

/// By cuDNN, in float32: a unit sums up a channel. 1.1 to 1.25 forward and 3.0 to 3.1 backward on an H200, of 32 to 128
/// channels of 56 x 56 and 112 x 112.
constexpr double cycles_forward = 1.1, cycles_backward = 3.0;
/// Of more channels than units each takes its start, and some share a unit: ten layers of 256 to 2,048 channels on an
/// H200 take 0.9 to 1.4 times this.
constexpr double start_forward = 2000, start_backward = 1500, cycles_backward_in_waves = 1.5, share_of_waves = 0.85;
/// Of these cycles what half the bytes take, in float16, of a channel alone: timm's networks of 8 to 40 channels,
/// trained on an RTX 3090, ask for 0.8 to 0.9 (docs/decisions/0061). Of many channels bytes decide, a judgement:
/// streams take longer on all cards.
constexpr double alone_in_float16 = 0.85, in_waves_in_float16 = 0.5;
/// Of them what images take whose channels lie last: the same networks ask for 0.5 to 0.7.
constexpr double share_of_channels_last = 0.6;

struct CudnnPass {
    double alone = 0, start = 0, in_waves = 0;  ///< cycles of an element, of a channel, of an element of many channels
};

double by_cudnn_s(const PreparedOperation& normalization, const Device& device, const CudnnPass& pass) {
    const Dimensions& size = normalization.dimensions;
    const TensorType& input = *tensors(normalization.operation).front();
    const Dtype type = input.dtype;
    if ((type != Dtype::f32 && type != Dtype::f16) || !(device.units > 0)) return 0;
    const bool is_half = type == Dtype::f16;
    const double elements = (is_channels_last(input) ? share_of_channels_last : 1) * size.elements_out / size.c;
    const double alone = (is_half ? alone_in_float16 : 1) * pass.alone * elements;
    const double in_waves = (is_half ? in_waves_in_float16 : 1) * pass.in_waves * elements;
    const double waves = share_of_waves * size.c / static_cast<double>(device.units);
    const double of_many = waves > 1 ? waves * (pass.start + in_waves) : 0;
    return seconds_in_turn(std::max(alone, of_many), device);
}

/// What the sums over channels take, in seconds; 0 where cuDNN computes them.
double channel_sums_s(const PreparedOperation& normalization, const Device& device, double passes) {
    const TensorType& input = *tensors(normalization.operation).front();
    if (input.dtype != Dtype::bf16 || !is_contiguous(input) || !(device.units > 0)) return 0;
    const Dimensions& size = normalization.dimensions;
    const double units = device.units;
    const double resident = std::min(blocks_of_unit, std::ceil(size.c / units));
    const double waves = std::ceil(size.c / (blocks_of_unit * units));
    const double of_element = (cycles_alone + cycles_of_other * (resident - 1)) * passes / passes_of_both;
    return seconds_in_turn(size.elements_out / size.c * of_element * waves, device);
}

}  // namespace

bool runs_batch_statistics(const PreparedOperation& normalization, const Device& device) {
    const Operation& operation = normalization.operation;
    return device.vendor == "nvidia" && operation.target == "aten::batch_norm" && takes_batch_statistics(operation);
}

double batch_statistics_forward_s(const PreparedOperation& normalization, const Device& device) {
    const double streamed = streamed_s(normalization.dimensions.forward, device);
    const double sums = channel_sums_s(normalization, device, passes_forward);
    if (sums == 0)
        return std::max(streamed, by_cudnn_s(normalization, device, {cycles_forward, start_forward, cycles_forward}));
    // Scaled as with given statistics. Seven layers of 7 x 7 on an H200 take 1.15 to 1.26 times this.
    return std::max(streamed, sums + scaled_planes_s(normalization.dimensions, device));
}

double batch_statistics_backward_s(const PreparedOperation& normalization, const Device& device) {
    const double sums = channel_sums_s(normalization, device, passes_backward);
    return std::max({streamed_s(normalization.dimensions.backward, device),
                     sums > 0 ? sums + kernels * device.kernel_latency_s : 0,
                     by_cudnn_s(normalization, device, {cycles_backward, start_backward, cycles_backward_in_waves})});
}

}  // namespace joulecast
