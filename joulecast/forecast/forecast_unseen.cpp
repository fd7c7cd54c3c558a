#include "joulecast/forecast/forecast_unseen.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/device/engine.h"
#include "joulecast/error.h"
#include "joulecast/forecast/backward_products.h"
#include "joulecast/forecast/batch_of_call.h"
#include "joulecast/forecast/compiled_calls.h"
#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/forecast/fp8_products.h"
#include "joulecast/forecast/kernel_bounds.h"
#include "joulecast/forecast/kernel_rules.h"
#include "joulecast/forecast/product_copies.h"
#include "joulecast/forecast/split_attention.h"
#include "joulecast/forecast/tensor_core_convolution.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// What a launch takes differs between hosts and drivers by about this share.
constexpr double launch_half_width = 0.3;
/// Gradient read, sum read, sum written.
constexpr double passes_to_accumulate = 3;

struct Opinion {
    double value = 0;
    double weight = 1;
    std::string_view device;  ///< that it comes from
};

/// What opinions come to.
struct Told {
    double value = 0;
    bool is_own = false;  ///< by the device's own expert
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

double least_of(const std::vector<Opinion>& opinions) {
    return std::ranges::min_element(opinions, {}, &Opinion::value)->value;
}

double opinion_of(const Expert& expert, const std::vector<float>& row) {
    const ModelPart& part = expert.model.parts.front();
    return std::clamp(predict(part.model, row), part.low, part.high);
}

/// What answers for the kernel of a call.
struct KernelKind {
    const TrainedLaw* law = nullptr;  ///< nullptr: nothing does
    Family family = Family::other;    ///< of the experts that know it
    KernelRule::Pass rule = nullptr;  ///< answers in their place, where nobody measured such a call
};

/// Products whose time goes by the rate at which tensor cores add in float32.
bool adds_on_tensor_cores(const PreparedOperation& operation) {
    return is_for_matrix_units(operation) && !is_depthwise(operation.operation);
}

/// Those of the named devices alone, where there are such.
void keep_of(std::vector<Opinion>& opinions, const std::vector<std::string>& devices) {
    const auto is_of_them = [&](const Opinion& opinion) {
        return std::ranges::find(devices, opinion.device) != devices.end();
    };
    if (std::ranges::any_of(opinions, is_of_them)) std::erase_if(opinions, std::not_fn(is_of_them));
}

/// Of those who know such calls; the device's own expert, if it has one, alone, else those of cards with its whole
/// chip, else for matrix units those of cards with a part of it: their tiles fill its units as they fill theirs. Absent
/// where nobody knows them.
std::optional<Told> combined(const DeviceModel& device, std::span<const Feature* const> columns,
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
        if (expert.device == device.device.id) return Told{value, true};
        opinions.push_back({value, age_weight(expert.release_year, device.device.release_year, combination.year_scale),
                            expert.device});
    }
    keep_of(opinions, unseen.same_whole_chip);
    if (is_for_matrix_units(operation)) keep_of(opinions, unseen.same_chip);
    if (opinions.empty()) return std::nullopt;
    // Tensor cores that run at half their rate are held by neither power nor memory, as most measured ones are.
    if (adds_at_half_rate(device.device) && adds_on_tensor_cores(operation)) return Told{least_of(opinions)};
    return Told{combination.by_median ? weighted_median(std::move(opinions)) : weighted_mean(opinions)};
}

/// What knows the call's kernel. Products of f32 in tf32 run on tensor cores, so who knows those of 16 bits is asked,
/// relative to the peak for TF32 and the bytes of f32. (Asked as if for 16 bits, they were no better: convolutions of
/// an A30 95 % off, in place of 89 %.)
KernelKind kernel_kind(const DeviceModel& device, const PreparedOperation& operation) {
    const Family family = operation.family();
    if (const KernelRule* ruled = kernel_rule(operation, device.device)) {
        const TrainedLaw* law = find_trained_law(device, operation.operation);
        // Rules have the passes apart, so that in training nothing knows both.
        if (law != nullptr && ruled->is_of_others(*law))
            return mode(operation.operation) == Mode::training ? KernelKind{} : KernelKind{law, family, ruled->forward};
    }
    const bool on_tensor_cores = runs_on_tensor_cores(operation, device.device);
    // A law without rows stands in for one that nobody measured.
    const auto rule_for = [&](const TrainedLaw* law) -> KernelRule::Pass {
        return on_tensor_cores && law && law->rows == 0 ? tensor_core_convolution_s : nullptr;
    };
    if (is_in_tf32(operation)) {
        Operation as_bf16 = operation.operation;
        for (TensorType* tensor : tensors(as_bf16)) {
            if (tensor->dtype == Dtype::f32) tensor->dtype = Dtype::bf16;
        }
        const TrainedLaw* law = find_trained_law(device, as_bf16);
        return {law, family, rule_for(law)};
    }
    const TrainedLaw* law = find_trained_law(device, operation.operation);
    if (const KernelRule::Pass rule = rule_for(law)) return {law, family, rule};
    const bool is_of_family = law != nullptr && is_family_law_key(law->key);
    if (!is_of_family || !is_scaling(operation.operation)) return {law, family};
    const TrainedLaw* elementwise = law_named(device, family_law_key(Family::elementwise, operation.operation));
    return elementwise ? KernelKind{elementwise, Family::elementwise} : KernelKind{law, family};
}

/// What experts on cards of the whole rate tell of a product, on this one: what they lose beside the arithmetic is lost
/// once, while the arithmetic takes twice as long as theirs.
double at_rate_of_sums(double told_s, const PreparedOperation& operation, const Device& device) {
    if (!adds_at_half_rate(device) || !adds_on_tensor_cores(operation)) return told_s;
    const Roofline& roof = operation.roofline;
    const double decided = std::max(0.0, 1 - roof.byte_s / roof.flop_s);
    return told_s - std::max(0.0, told_s - seconds(roof)) * decided / 2;
}

/// Seconds, by what the experts say.
std::optional<Told> learned_kernel_s(const DeviceModel& device, std::span<const Feature* const> columns,
                                     const PreparedOperation& operation, const KernelKind& kind) {
    const auto opinion = kind.law ? combined(device, columns, operation, kind) : std::nullopt;
    if (!opinion) return std::nullopt;
    const double told = std::exp(log_base(Base::kernel, device, operation).value() + opinion->value);
    return Told{at_rate_of_sums(told, operation, device.device), opinion->is_own};
}

std::optional<KernelForecast> kernel_of(const DeviceModel& device, std::span<const Feature* const> columns,
                                        const PreparedOperation& operation, const KernelKind& kind) {
    const auto told = kind.rule ? std::optional(Told{kind.rule(operation, device.device)})
                                : learned_kernel_s(device, columns, operation, kind);
    if (!told) return std::nullopt;
    const ResidualProcess& residual = device.unseen->residual;
    const ResidualPlace place = residual_place(operation, device.device);
    const auto belief = residual.at(place);
    const double seconds = told->value * std::exp(belief.mean) + copying_s(operation, device.device);
    return KernelForecast{std::max(seconds, least_call_s(operation, device.device)), kind.law->law.floor_s,
                          residual.half_width_90(belief, place), told->is_own};
}

/// kernel_of(), but for products of 8 bits by torch itself, compiled or not: what their twins of 16 bits tell.
std::optional<KernelForecast> kernel_by_torch(const DeviceModel& device, std::span<const Feature* const> columns,
                                              const PreparedOperation& operation, const KernelKind& kind) {
    const auto narrow = is_issued_by_torch(device.point.engine) ? in_16_bits(operation.operation) : std::nullopt;
    if (!narrow) return kernel_of(device, columns, operation, kind);
    const PreparedOperation twin = prepare(*narrow, device.device, Math::ieee);
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
    double opinion = std::numeric_limits<double>::max();
    for (const Expert& expert : *device.unseen->experts) {
        if (expert.model.family == family) opinion = std::min(opinion, expert.model.parts.front().low);
    }
    const double correction = device.unseen->residual.mean_at(residual_place(operation, device.device));
    const double told = std::exp(log_base(Base::kernel, device, operation).value() + opinion);
    return std::max(at_rate_of_sums(told, operation, device.device) * std::exp(correction),
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

/// The backward pass at the forward one's share of the roofline, but where a rule tells.
double backward_kernels_s(const DeviceModel& device, const PreparedOperation& operation, double forward_s) {
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

/// The kernels of both passes, by that of the forward pass.
std::optional<KernelForecast> both_passes(const DeviceModel& device, std::span<const Feature* const> columns,
                                          const PreparedOperation& operation, ForwardKernels& known) {
    auto kernel = known.of(device, operation, [&] {
        const PreparedOperation forward = forward_alone(operation, device);
        return kernel_of(device, columns, forward, kernel_kind(device, forward));
    });
    if (!kernel || gradients(operation) == 0) return kernel;
    const double weight_bytes = operation.dimensions.weight_bytes;
    const double accumulating = passes_to_accumulate * weight_bytes / streamed_bytes_per_s(device.device);
    const double backward = backward_kernels_s(device, operation, kernel->seconds) + accumulating;
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
                                              const PreparedOperation& asked, ForwardKernels& known) {
    const auto plain = as_float32(asked, device.device);
    const PreparedOperation& operation = plain ? *plain : asked;
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
    auto kernel = kernels_of_call(device, columns, operation, known);
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
