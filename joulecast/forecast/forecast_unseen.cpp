#include "joulecast/forecast/forecast_unseen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

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
    for (const Opinion& one : opinions) whole += one.weight;
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
    for (const Opinion& one : opinions) {
        sum += one.weight * one.value;
        whole += one.weight;
    }
    return sum / whole;
}

double opinion_of(const Expert& expert, const std::vector<float>& row) {
    const ModelPart& part = expert.model.parts.front();
    return std::clamp(predict(part.model, row), part.low, part.high);
}

/// Of those who know such calls; the device's own expert, if it has one, alone. Absent where nobody knows them.
std::optional<double> combined(const DeviceModel& device, std::span<const Feature* const> columns,
                               const PreparedOperation& operation, const std::string& key) {
    const Unseen& unseen = *device.unseen;
    const auto knowing = unseen.knowing.find(key);
    if (knowing == unseen.knowing.end()) return std::nullopt;
    std::vector<Opinion> opinions;
    std::vector<float> row;  // the same for all experts of a family
    for (const Expert& expert : unseen.experts) {
        if (expert.model.family != operation.family()) continue;
        const auto& devices = knowing->second;
        if (std::find(devices.begin(), devices.end(), expert.device) == devices.end()) continue;
        if (row.empty()) row = relative_row(device, expert.model, columns, operation);
        const double value = opinion_of(expert, row);
        if (expert.device == device.device.id) return value;
        opinions.push_back(
            {value, age_weight(expert.release_year, device.device.release_year, unseen.combination.year_scale)});
    }
    if (opinions.empty()) return std::nullopt;
    return unseen.combination.by_median ? weighted_median(std::move(opinions)) : weighted_mean(opinions);
}

/// By the law of that operation; nullptr where it has none.
std::optional<KernelForecast> kernel_of(const DeviceModel& device, std::span<const Feature* const> columns,
                                        const PreparedOperation& operation, const TrainedLaw* law) {
    const auto opinion = law ? combined(device, columns, operation, law->key) : std::nullopt;
    if (!opinion) return std::nullopt;
    const ResidualProcess& residual = device.unseen->residual;
    const auto belief = residual.at(residual_place(operation.dimensions, device.device));
    const double base = log_base(Base::kernel, device, operation).value();
    return KernelForecast{std::exp(base + *opinion + belief.mean), law->law.floor_s,
                          residual.half_width_90(belief, operation.family())};
}

PreparedOperation forward_alone(const PreparedOperation& operation, const DeviceModel& device) {
    PreparedOperation forward = operation;
    for (TensorType* tensor : tensors(forward.operation)) tensor->requires_grad = false;
    forward.dimensions.backward = {};
    forward.roofline =
        roofline(forward.dimensions.forward, compute_dtype(operation.operation), device.device, device.point.math);
    return forward;
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
        return kernel_of(device, columns, forward, find_trained_law(device, forward.operation));
    });
    if (!kernel) return std::nullopt;
    const double roof = seconds(
        roofline(operation.dimensions.backward, compute_dtype(operation.operation), device.device, device.point.math));
    if (!(roof > 0)) return kernel;
    const double forward_roof = seconds(
        roofline(operation.dimensions.forward, compute_dtype(operation.operation), device.device, device.point.math));
    const double efficiency = kernel->seconds / (forward_roof + device.device.kernel_latency_s);
    const double weight_bytes = operation.dimensions.weight_bytes;
    const double accumulating = passes_to_accumulate * weight_bytes / streamed_bytes_per_s(device.device);
    const double backward = efficiency * (roof + device.device.kernel_latency_s) + accumulating;
    const double share = backward / (kernel->seconds + backward);
    kernel->seconds += backward;
    correct_for_both(*kernel, device, operation);
    kernel->half_width = std::hypot(kernel->half_width, share * normal_90 * backward_deviation);
    kernel->launch_s *= weight_bytes > 0 ? 3 : 2;
    return kernel;
}

std::optional<KernelForecast> kernels_of_call(const DeviceModel& device, std::span<const Feature* const> columns,
                                              const PreparedOperation& operation, ForwardKernels& known) {
    const TrainedLaw* law = find_trained_law(device, operation.operation);
    const auto make = [&] { return kernel_of(device, columns, operation, law); };
    if (mode(operation.operation) == Mode::inference) return known.of(device, operation, make);
    return law ? make() : both_passes(device, columns, operation, known);
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
