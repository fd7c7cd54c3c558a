#include "joulecast/forecast/forecast_unseen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/forecast/batch_of_call.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// A backward pass at the forward one's efficiency is off by about this much (standard deviation of the log; a
/// judgement from two GPUs' nodes).
constexpr double backward_deviation = 0.15;
/// What a launch takes differs between hosts and drivers by about this share.
constexpr double launch_half_width = 0.3;
/// Gradient read, sum read, sum written.
constexpr double passes_to_accumulate = 3;

struct Opinion {
    double value = 0;
    double weight = 1;
};

/// Where half of the weight lies below, straight between the middles of the opinions' weights.
double weighted_median(std::vector<Opinion> opinions) {
    std::sort(opinions.begin(), opinions.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    double whole = 0;
    for (const Opinion& opinion : opinions) whole += opinion.weight;
    double below = 0;  // weight below the middle of the opinion before
    double passed = 0;
    for (std::size_t i = 0; i < opinions.size(); ++i) {
        const double middle = passed + opinions[i].weight / 2;
        if (middle >= whole / 2) {
            if (i == 0) return opinions[0].value;
            const double share = (whole / 2 - below) / (middle - below);
            return opinions[i - 1].value + share * (opinions[i].value - opinions[i - 1].value);
        }
        below = middle;
        passed += opinions[i].weight;
    }
    return opinions.back().value;
}

double weighted_mean(const std::vector<Opinion>& opinions) {
    double sum = 0;
    double whole = 0;
    for (const Opinion& opinion : opinions) {
        sum += opinion.weight * opinion.value;
        whole += opinion.weight;
    }
    return sum / whole;
}

double opinion_of(const Expert& expert, const std::vector<float>& row) {
    const ModelPart& part = expert.model.parts.front();
    return std::clamp(predict(part.model, row), part.low, part.high);
}

/// What answers for the kernel of a call.
struct KernelKind {
    const TrainedLaw* law = nullptr;  ///< nullptr: nothing does
    Family family = Family::other;    ///< of the experts that know it
};

/// Of those who know such calls; the device's own expert, if it has one, alone. Absent where nobody knows them.
std::optional<double> combined(const DeviceModel& device, std::span<const Feature* const> columns,
                               const PreparedOperation& operation, const KernelKind& kind) {
    const Unseen& unseen = *device.unseen;
    const auto knowing = unseen.knowing.find(kind.law->key);
    if (knowing == unseen.knowing.end()) return std::nullopt;
    const auto other = unseen.combinations.find(kind.family);
    const Combination& combination = other == unseen.combinations.end() ? unseen.combination : other->second;
    std::vector<Opinion> opinions;
    std::vector<float> row;  // the same for all experts of a family
    for (const Expert& expert : *unseen.experts) {
        if (expert.model.family != kind.family) continue;
        const auto& devices = knowing->second;
        if (std::find(devices.begin(), devices.end(), expert.device) == devices.end()) continue;
        if (row.empty()) row = relative_row(device, expert.model, columns, operation);
        const double value = opinion_of(expert, row);
        if (expert.device == device.device.id) return value;
        opinions.push_back(
            {value, age_weight(expert.release_year, device.device.release_year, combination.year_scale)});
    }
    if (opinions.empty()) return std::nullopt;
    return combination.by_median ? weighted_median(std::move(opinions)) : weighted_mean(opinions);
}

/// Tensor cores sustain no more of their peak than this, whatever they multiply; a judgement. Of the products in bf16
/// of AIConfigurator's tables the fastest of a hundred reaches 0.72 (B200), 0.74 (L40S), 0.75 (H200), 0.83 (A100) and
/// 0.87 (H100) of the sheet's figure; single ones, over zeros, reach 0.97. Float32 proper is not held to it: Winograd's
/// convolutions pass the peak.
constexpr double most_of_peak = 0.8;

/// No kernel is faster: products within that share of the peak, and bytes that no cache can hold, before or after,
/// within the bandwidth of the data sheet.
double least_seconds(const PreparedOperation& operation, const Counts& counts, const Device& device) {
    const Dtype type = compute_dtype(operation.operation);
    const bool is_ieee = type == Dtype::f32 && operation.math == Math::ieee;
    double least = 0;
    if (multiplies_matrices(operation.family()) && !is_ieee && is_floating(type))
        least = static_cast<double>(counts.flop) / (most_of_peak * peak_flop_per_s(device, type, operation.math));
    const double cache = std::isnan(device.last_level_cache_bytes) ? 0 : device.last_level_cache_bytes;
    const double moved = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written) - 2 * cache;
    return std::fmax(least, moved / device.bandwidth_bytes_per_s);
}

/// With statistics that are given, batch norm scales each element, in one pass: no reduction, unlike its family.
bool is_scaling(const Operation& operation) {
    return operation.target == "aten::batch_norm" && !takes_batch_statistics(operation);
}

/// What knows the call's kernel. Products of f32 in tf32 run on tensor cores, so who knows those of 16 bits is asked,
/// relative to the peak for TF32 and the bytes of f32. (Asked as if for 16 bits, they were no better: convolutions of
/// an A30 95 % off, in place of 89 %.)
KernelKind kernel_kind(const DeviceModel& device, const PreparedOperation& operation) {
    const Family family = operation.family();
    const bool is_tf32 =
        operation.math == Math::tf32 && multiplies_matrices(family) && compute_dtype(operation.operation) == Dtype::f32;
    if (is_tf32) {
        Operation as_bf16 = operation.operation;
        for (TensorType* tensor : tensors(as_bf16)) {
            if (tensor->dtype == Dtype::f32) tensor->dtype = Dtype::bf16;
        }
        return {find_trained_law(device, as_bf16), family};
    }
    const TrainedLaw* law = find_trained_law(device, operation.operation);
    const bool is_of_family = law != nullptr && is_family_law_key(law->key);
    if (!is_of_family || !is_scaling(operation.operation)) return {law, family};
    const TrainedLaw* elementwise = law_named(device, family_law_key(Family::elementwise, operation.operation));
    return elementwise ? KernelKind{elementwise, Family::elementwise} : KernelKind{law, family};
}

std::optional<KernelForecast> kernel_of(const DeviceModel& device, std::span<const Feature* const> columns,
                                        const PreparedOperation& operation, const KernelKind& kind) {
    const auto opinion = kind.law ? combined(device, columns, operation, kind) : std::nullopt;
    if (!opinion) return std::nullopt;
    const ResidualProcess& residual = device.unseen->residual;
    const auto belief = residual.at(residual_place(operation.dimensions, device.device));
    const double base = log_base(Base::kernel, device, operation).value();
    const Counts counts = operation.dimensions.forward + operation.dimensions.backward;
    const double seconds = std::exp(base + *opinion + belief.mean);
    return KernelForecast{std::max(seconds, least_seconds(operation, counts, device.device)), kind.law->law.floor_s,
                          residual.half_width_90(belief, operation.family())};
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
    double opinion = std::numeric_limits<double>::max();
    for (const Expert& expert : *device.unseen->experts) {
        if (expert.model.family == family) opinion = std::min(opinion, expert.model.parts.front().low);
    }
    const double correction = device.unseen->residual.at(residual_place(operation.dimensions, device.device)).mean;
    const Counts counts = operation.dimensions.forward + operation.dimensions.backward;
    return std::max(std::exp(log_base(Base::kernel, device, operation).value() + opinion + correction),
                    least_seconds(operation, counts, device.device));
}

/// `kernel_of_call` of the operation, and no more than that of the same call for 2, 4, 8 ... times the batch: it could
/// be filled up to those. The experts' forests know no such order, and what they say of small calls, most of whose
/// time is not the kernel's, is the less certain (docs/decisions/0026-batches-in-order.md).
template <class KernelOfCall>
std::optional<KernelForecast> kernel_in_order(const DeviceModel& device, const PreparedOperation& operation,
                                              Family family, const KernelOfCall& kernel_of_call) {
    auto kernel = kernel_of_call(operation);
    if (!kernel) return std::nullopt;
    for (auto larger = at_twice_the_batch(operation, device.device); larger;
         larger = at_twice_the_batch(*larger, device.device)) {
        if (least_kernel_s(device, *larger, family) >= kernel->seconds) break;
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
    const auto both = residual.at(residual_place(operation.dimensions, device.device));
    kernel.seconds *= std::exp(both.mean - residual.at(residual_place(forward, device.device)).mean);
    kernel.half_width = residual.half_width_90(both, operation.family());
}

/// The kernels of both passes, by that of the forward pass.
std::optional<KernelForecast> both_passes(const DeviceModel& device, std::span<const Feature* const> columns,
                                          const PreparedOperation& operation, ForwardKernels& known) {
    auto kernel = known.of(device, operation, [&] {
        const PreparedOperation forward = forward_alone(operation, device);
        return kernel_of(device, columns, forward, kernel_kind(device, forward));
    });
    if (!kernel) return std::nullopt;
    const double roof = seconds(
        roofline(operation.dimensions.backward, compute_dtype(operation.operation), device.device, operation.math));
    if (!(roof > 0)) return kernel;
    const double forward_roof = seconds(
        roofline(operation.dimensions.forward, compute_dtype(operation.operation), device.device, operation.math));
    const double efficiency = kernel->seconds / (forward_roof + device.device.kernel_latency_s);
    const double weight_bytes = operation.dimensions.weight_bytes;
    const double accumulating = passes_to_accumulate * weight_bytes / streamed_bytes_per_s(device.device);
    const double backward = std::max(efficiency * (roof + device.device.kernel_latency_s),
                                     least_seconds(operation, operation.dimensions.backward, device.device)) +
                            accumulating;
    const double share = backward / (kernel->seconds + backward);
    kernel->seconds += backward;
    correct_for_both(*kernel, device, operation);
    kernel->half_width = std::hypot(kernel->half_width, share * normal_90 * backward_deviation);
    kernel->launch_s *= weight_bytes > 0 ? 3 : 2;
    return kernel;
}

std::optional<KernelForecast> kernels_of_call(const DeviceModel& device, std::span<const Feature* const> columns,
                                              const PreparedOperation& operation, ForwardKernels& known) {
    const KernelKind kind = kernel_kind(device, operation);
    const auto alone = [&](const PreparedOperation& call) { return kernel_of(device, columns, call, kind); };
    if (mode(operation.operation) == Mode::inference) {
        return kernel_in_order(device, operation, kind.family, [&](const PreparedOperation& call) {
            return known.of(device, call, [&] { return alone(call); });
        });
    }
    if (kind.law) return kernel_in_order(device, operation, kind.family, alone);
    const Family of_forward = kernel_kind(device, forward_alone(operation, device)).family;
    return kernel_in_order(device, operation, of_forward,
                           [&](const PreparedOperation& call) { return both_passes(device, columns, call, known); });
}

}  // namespace

double age_weight(double one_year, double other_year, double scale) {
    const double years = std::abs(one_year - other_year);
    return scale > 0 && !std::isnan(years) ? std::pow(3, -years / scale) : 1;
}

std::vector<float> relative_row(const DeviceModel& device, const FamilyModel& model,
                                std::span<const Feature* const> columns, const PreparedOperation& operation) {
    // Features of the law are seconds, which are never shown.
    const FeatureContext context = feature_context(device, model, operation, std::nullopt);
    std::vector<float> row;
    row.reserve(columns.size());
    for (const Feature* column : columns) {
        const bool is_shown =
            column->tells == Tells::product || (column->tells == Tells::call && model.family != Family::matmul);
        row.push_back(is_shown ? value_or_missing(*column, context) : std::numeric_limits<float>::quiet_NaN());
    }
    return row;
}

std::optional<LogForecast> forecast_unseen(const DeviceModel& device, std::span<const Feature* const> columns,
                                           const PreparedOperation& operation, ForwardKernels& known) {
    const auto kernel = kernels_of_call(device, columns, operation, known);
    if (!kernel) return std::nullopt;
    const double whole = kernel->seconds + kernel->launch_s;
    const double share = kernel->seconds / whole;
    const double half_width = std::hypot(share * kernel->half_width, (1 - share) * launch_half_width);
    LogForecast forecast;
    forecast.log_value = std::log(whole);
    forecast.half_width = std::clamp(half_width, least_half_width, largest_half_width);
    forecast.scale = forecast.half_width;
    forecast.kernel_s = kernel->seconds;
    return forecast;
}

}  // namespace joulecast
