#include "joulecast/forecast/forecast_unseen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "joulecast/error.h"
#include "joulecast/forecast/backward_products.h"
#include "joulecast/forecast/batch_of_call.h"
#include "joulecast/forecast/compiled_calls.h"
#include "joulecast/forecast/convolution_bias.h"
#include "joulecast/forecast/float32_convolution.h"
#include "joulecast/forecast/fp8_products.h"
#include "joulecast/forecast/kernel_bounds.h"
#include "joulecast/forecast/kernel_rules.h"
#include "joulecast/forecast/product_copies.h"
#include "joulecast/forecast/split_attention.h"
#include "joulecast/forecast/tensor_core_convolution.h"
#include "joulecast/forecast/told_kernel.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// What a launch takes differs between hosts and drivers by about this share.
constexpr double launch_half_width = 0.3;
/// Gradient read, sum read, sum written.
constexpr double passes_to_accumulate = 3;

std::optional<KernelForecast> kernel_of(const DeviceModel& device, std::span<const Feature* const> columns,
                                        const PreparedOperation& operation, const KernelKind& kind) {
    const auto told = told_kernel_s(device, columns, operation, kind);
    if (!told) return std::nullopt;
    const ResidualProcess& residual = device.unseen->residual;
    const ResidualPlace place = residual_place(operation, device.device);
    const auto belief = residual.at(place);
    const double beside = copying_s(operation, device.device) + bias_pass_s(operation, device.device);
    const double seconds = told->value * std::exp(belief.mean) + beside;
    return KernelForecast{std::max(seconds, least_call_s(operation, device.device)), kind.law->law.floor_s,
                          residual.half_width_90(belief, place), told->is_own};
}

/// kernel_of(), but for products of 8 bits by torch itself, compiled or not: what their twins of 16 bits tell.
std::optional<KernelForecast> kernel_by_torch(const DeviceModel& device, std::span<const Feature* const> columns,
                                              const PreparedOperation& operation, const KernelKind& kind) {
    const auto narrow = is_issued_by_torch(device.point.engine) ? in_16_bits(operation.operation) : std::nullopt;
    if (!narrow) return kernel_of(device, columns, operation, kind);
    const PreparedOperation twin = prepare_unnamed(*narrow, device.device, Math::ieee);
    auto kernel = kernel_of(device, columns, twin, kernel_kind(device, twin));
    if (!kernel) return kernel_of(device, columns, operation, kind);
    kernel->seconds = std::max(fp8_product_s(kernel->seconds, device.device), least_call_s(operation, device.device));
    kernel->half_width = std::hypot(kernel->half_width, normal_90 * sigma_of_fp8_products);
    kernel->is_own = false;
    return kernel;
}

PreparedOperation forward_alone(const PreparedOperation& operation, const DeviceModel& device) {
    PreparedOperation forward = operation;
    for (TensorType* tensor : tensors(forward.operation)) tensor->requires_grad = false;
    forward.dimensions.backward = {};
    forward.roofline =
        roofline(forward.dimensions.forward, compute_dtype(operation.operation), device.device, operation.math);
    return forward;
}

/// The call for twice the batch; absent where that is another kind of call, or one that cannot be: too large, or its
/// sizes stand in other arguments as well.
std::optional<PreparedOperation> at_twice_the_batch(const PreparedOperation& operation, const Device& device) {
    const auto batch = batch_of(operation.operation);
    if (!batch) return std::nullopt;
    try {
        PreparedOperation larger;
        larger.operation = with_batch(operation.operation, 2 * *batch);
        larger.dimensions = dimensions(larger.operation);
        if (larger.family() != operation.family()) return std::nullopt;
        larger.math = operation.math;
        const Counts counts = larger.dimensions.forward + larger.dimensions.backward;
        larger.roofline = roofline(counts, compute_dtype(larger.operation), device, larger.math);
        return larger;
    } catch (const FormatError&) {
        return std::nullopt;
    }
}

/// What kernel_of() says of such calls is no less, and of calls with more work neither.
double least_kernel_s(const DeviceModel& device, const PreparedOperation& operation, Family family) {
    const double correction = device.unseen->residual.mean_at(residual_place(operation, device.device));
    return std::max(least_told_s(device, operation, family) * std::exp(correction),
                    least_call_s(operation, device.device));
}

/// `kernel_of_call` of the operation, and no more than that of the same call for 2, 4, 8 ... times the batch: it could
/// be filled up to those. The experts' forests know no such order, and what they say of small calls, most of whose
/// time is not the kernel's, is the less certain (docs/decisions/0026-batches-in-order.md). A rule knows it by itself.
template <class KernelOfCall>
std::optional<KernelForecast> kernel_in_order(const DeviceModel& device, const PreparedOperation& operation,
                                              const KernelKind& kind, const KernelOfCall& kernel_of_call) {
    auto kernel = kernel_of_call(operation);
    if (!kernel || kind.rule) return kernel;
    for (auto larger = at_twice_the_batch(operation, device.device); larger;
         larger = at_twice_the_batch(*larger, device.device)) {
        if (least_kernel_s(device, *larger, kind.family) >= kernel->seconds) break;
        const auto of_larger = kernel_of_call(*larger);
        if (!of_larger) break;
        kernel->seconds = std::min(kernel->seconds, of_larger->seconds);
    }
    return kernel;
}

/// What measurements on the device say of calls with a backward pass, in place of what they say of the forward pass.
void correct_for_both(KernelForecast& kernel, const DeviceModel& device, const PreparedOperation& operation) {
    const ResidualProcess& residual = device.unseen->residual;
    if (residual.measured() == 0) return;
    Dimensions forward = operation.dimensions;
    forward.backward = {};
    const ResidualPlace place = residual_place(operation, device.device);
    const auto both = residual.at(place);
    kernel.seconds *= std::exp(both.mean - residual.mean_at(residual_place(forward, place.width, device.device)));
    kernel.half_width = residual.half_width_90(both, place);
}

/// The gradients of a 1x1 convolution on tensor cores: the input's as the forward pass, the weight's of turned images.
std::optional<double> backward_of_product_s(const PreparedOperation& operation, const Device& device,
                                            double forward_s) {
    const auto weight = weight_gradient_of_product_s(operation, device);
    const auto types = tensors(operation.operation);
    if (!weight || types.size() < 2 || !types[1]->requires_grad) return std::nullopt;
    const double as_measured = forward_s / tensor_core_convolution_s(operation, device);
    return *weight * as_measured + (types[0]->requires_grad ? forward_s : 0) + bias_gradient_s(operation, device);
}

/// The backward pass at the forward one's share of the roofline, but where a rule tells.
double backward_kernels_s(const DeviceModel& device, const PreparedOperation& operation, double forward_s) {
    if (const auto seconds = backward_of_product_s(operation, device.device, forward_s)) return *seconds;
    const KernelRule* ruled = kernel_rule(operation, device.device);
    if (ruled && ruled->backward && kernel_kind(device, forward_alone(operation, device)).rule)
        return ruled->backward(operation, device.device);
    const auto seconds_of = [&](const Counts& counts) {
        return seconds(roofline(counts, compute_dtype(operation.operation), device.device, operation.math)) +
               device.device.kernel_latency_s;
    };
    const double efficiency = forward_s / seconds_of(operation.dimensions.forward);
    const double products =
        efficiency * seconds_of(operation.dimensions.backward) * slowdown_across_depth(operation, device.device);
    return std::max(products, least_seconds(operation, operation.dimensions.backward, device.device)) +
           bias_gradient_s(operation, device.device);
}

/// Of the two products of the backward pass cuDNN computes the input's gradient as the forward pass, by Winograd's
/// transforms where those are faster, the weight's as a plain product: how much longer than the forward pass they take
/// in the mean.
double slowdown_without_winograd(const DeviceModel& device, std::span<const Feature* const> columns,
                                 const PreparedOperation& operation) {
    const double transformed = winograd_s(operation, device.device);
    const auto plain = std::isfinite(transformed) ? told_as_product(device, columns, operation) : std::nullopt;
    return plain ? (1 + std::max(1.0, plain->value / transformed)) / 2 : 1;
}

/// The kernels of both passes, by that of the forward pass.
std::optional<KernelForecast> both_passes(const DeviceModel& device, std::span<const Feature* const> columns,
                                          const PreparedOperation& operation, ForwardKernels& known) {
    const PreparedOperation forward = forward_alone(operation, device);
    auto kernel =
        known.of(device, operation, [&] { return kernel_of(device, columns, forward, kernel_kind(device, forward)); });
    if (!kernel || gradients(operation) == 0) return kernel;
    const double weight_bytes = operation.dimensions.weight_bytes;
    const double accumulating = passes_to_accumulate * weight_bytes / streamed_bytes_per_s(device.device);
    const double convolved = kernel->seconds - bias_pass_s(forward, device.device);
    const double products = convolved * slowdown_without_winograd(device, columns, operation);
    const double backward = backward_kernels_s(device, operation, products) + accumulating;
    const double share = backward / (kernel->seconds + backward);
    kernel->seconds += backward;
    correct_for_both(*kernel, device, operation);
    kernel->half_width = std::hypot(kernel->half_width, share * normal_90 * backward_deviation);
    kernel->launch_s *= launches(operation, device.device);
    return kernel;
}

/// A convolution that was asked for in TF32 and has no kernel for that is computed in float32, and so is attention: its
/// fused kernels multiply float32 in three steps of TF32, whatever was allowed (an H200 takes 2.2 to 5 times the time
/// that products in TF32 would).
std::optional<PreparedOperation> as_float32(const PreparedOperation& operation, const Device& device) {
    if (!is_in_tf32(operation)) return std::nullopt;
    const bool is_whole = operation.family() == Family::convolution && operation.dimensions.groups == 1;
    const bool has_no_kernel = is_whole && !runs_on_tensor_cores(operation, device);
    const bool is_fused = operation.family() == Family::attention && !runs_split_attention(operation.operation, device);
    if (!has_no_kernel && !is_fused) return std::nullopt;
    return on(operation, device, Math::ieee);
}

std::optional<KernelForecast> kernels_of_call(const DeviceModel& device, std::span<const Feature* const> columns,
                                              const PreparedOperation& operation, ForwardKernels& known) {
    const KernelKind kind = kernel_kind(device, operation);
    const auto alone = [&](const PreparedOperation& call) { return kernel_by_torch(device, columns, call, kind); };
    if (mode(operation.operation) == Mode::inference) {
        return kernel_in_order(device, operation, kind, [&](const PreparedOperation& call) {
            return known.of(device, call, [&] { return alone(call); });
        });
    }
    if (kind.law) return kernel_in_order(device, operation, kind, alone);
    const KernelKind of_forward = kernel_kind(device, forward_alone(operation, device));
    return kernel_in_order(device, operation, of_forward,
                           [&](const PreparedOperation& call) { return both_passes(device, columns, call, known); });
}

/// TF32 is a permission: where it brings no more arithmetic a convolution runs in float32 if that is faster.
bool may_stay_in_float32(const PreparedOperation& operation, const Device& device) {
    return is_in_tf32(operation) && operation.family() == Family::convolution && !gains_by_tf32(device);
}

std::optional<KernelForecast> kernels_as_torch_multiplies(const DeviceModel& device,
                                                          std::span<const Feature* const> columns,
                                                          const PreparedOperation& asked, ForwardKernels& known) {
    if (const auto plain = as_float32(asked, device.device)) return kernels_of_call(device, columns, *plain, known);
    auto kernel = kernels_of_call(device, columns, asked, known);
    if (!kernel || !may_stay_in_float32(asked, device.device)) return kernel;
    const auto plain = kernels_of_call(device, columns, on(asked, device.device, Math::ieee), known);
    return plain && plain->seconds < kernel->seconds ? plain : kernel;
}

/// The measured kernel of the same call for another batch; absent where that was not measured.
std::optional<double> measured_kernel_s(const DeviceModel& device, const Operation& operation, std::int64_t batch) {
    const auto found = device.kept.find(signature(with_batch(operation, batch)));
    if (found == device.kept.end() || !found->second.is_of_device) return std::nullopt;
    return found->second.time.value.value();
}

/// Whether any call of that name was measured: to write the signatures of all batches takes microseconds.
bool is_measured_at_all(const DeviceModel& device, const std::string& target) {
    const std::string begin = target + "(";
    const auto found = device.kept.lower_bound(begin);
    return found != device.kept.end() && found->first.starts_with(begin);
}

/// What was measured of the same call for half the batch, or a quarter, is no more, and for twice no less: a forecast
/// of 16 images went below what 8 were measured to take.
double between_measured(const DeviceModel& device, const PreparedOperation& operation, double kernel_s) {
    constexpr std::int64_t most_times = 64;
    if (!is_measured_at_all(device, operation.operation.target)) return kernel_s;
    const auto batch = batch_of(operation.operation);
    if (!batch) return kernel_s;
    double least = 0;
    double most = std::numeric_limits<double>::infinity();
    for (std::int64_t times = 2; times <= most_times; times *= 2) {
        if (*batch % times == 0) {
            const auto of_smaller = measured_kernel_s(device, operation.operation, *batch / times);
            least = std::max(least, of_smaller.value_or(0));
        }
        if (const auto of_larger = measured_kernel_s(device, operation.operation, times * *batch))
            most = std::min(most, *of_larger);
    }
    return std::max(least, std::min(most, kernel_s));
}

}  // namespace

std::optional<LogForecast> forecast_unseen(const DeviceModel& device, std::span<const Feature* const> columns,
                                           const PreparedOperation& operation, ForwardKernels& known) {
    auto kernel = kernels_as_torch_multiplies(device, columns, operation, known);
    if (!kernel) return std::nullopt;
    kernel->seconds = between_measured(device, operation, kernel->seconds);
    // A call alone takes no less than its host needs, and a long kernel hides a part of that.
    const double least = kernel->launch_s + device.device.kernel_latency_s;
    const double before = kernel->launch_s - std::min(device.unseen->hidden_launch_s, kernel->launch_s);
    const double whole = std::max(least, before + kernel->seconds);
    const double share = std::min(1.0, kernel->seconds / whole);
    const double half_width = std::hypot(share * kernel->half_width, (1 - share) * launch_half_width);
    LogForecast forecast;
    forecast.log_value = std::log(whole);
    forecast.half_width = std::clamp(half_width, least_half_width, largest_half_width);
    forecast.scale = forecast.half_width;
    forecast.kernel_s = kernel->seconds;
    forecast.is_own = kernel->is_own;
    return forecast;
}

}  // namespace joulecast
