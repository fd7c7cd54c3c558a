#include "joulecast/forecast/told_kernel.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "joulecast/forecast/compiled_calls.h"
#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/forecast/float32_convolution.h"
#include "joulecast/forecast/kernel_bounds.h"
#include "joulecast/forecast/product_copies.h"
#include "joulecast/forecast/row_kernels.h"
#include "joulecast/forecast/small_kernels.h"
#include "joulecast/forecast/tensor_core_convolution.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

struct Opinion {
    double value = 0;
    double weight = 1;
    std::string_view device;  ///< that it comes from
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

/// What experts on cards of the whole rate tell of a product, on this one: what they lose beside the arithmetic is lost
/// once, while the arithmetic takes twice as long as theirs.
double at_rate_of_sums(double told_s, const PreparedOperation& operation, const Device& device) {
    if (!adds_at_half_rate(device) || !adds_on_tensor_cores(operation)) return told_s;
    const Roofline& roof = operation.roofline;
    const double decided = std::max(0.0, 1 - roof.byte_s / roof.flop_s);
    return told_s - std::max(0.0, told_s - seconds(roof)) * decided / 2;
}

/// What experts say of small calls is mostly what they know of launches.
double most_of(double told_s, const PreparedOperation& operation, const Device& device) {
    return std::min(told_s, most_small_kernel_s(operation, device));
}

/// Seconds, by what the experts say. Of operands that torch copies first they are shown the copies, which take their
/// own time, and of layer norms of many dimensions the rows.
std::optional<Told> learned_kernel_s(const DeviceModel& device, std::span<const Feature* const> columns,
                                     const PreparedOperation& operation, const KernelKind& kind) {
    if (auto copied = as_multiplied(operation.operation)) {
        PreparedOperation multiplied = operation;
        multiplied.operation = *std::move(copied);
        return learned_kernel_s(device, columns, multiplied, kind);
    }
    if (const auto rows = in_three_dimensions(operation.operation))
        return learned_kernel_s(device, columns, prepare(*rows, device.device, operation.math), kind);
    const auto opinion = kind.law ? combined(device, columns, operation, kind) : std::nullopt;
    if (!opinion) return std::nullopt;
    const double told = std::exp(log_base(Base::kernel, device, operation).value() + opinion->value);
    return Told{most_of(at_rate_of_sums(told, operation, device.device), operation, device.device), opinion->is_own};
}

/// Serving engines' attention, which the experts were taught, is a kernel or two more than torch's: the cache is
/// written, parts are put together. Ten calls of decoding and six of short prompts on an H200 take 2 to 6 us less than
/// theirs.
double as_torch_attends(double told_s, const DeviceModel& device, const PreparedOperation& operation) {
    constexpr double latencies = 2, most_of_it = 0.5;
    const bool is_torchs = is_issued_by_torch(device.point.engine) && operation.family() == Family::attention;
    const bool has_mask = find_tensor(operation.operation, "attn_mask") != nullptr;
    if (!is_torchs || has_mask || device.device.vendor != "nvidia") return told_s;
    return std::max(told_s - latencies * device.device.kernel_latency_s, most_of_it * told_s);
}

}  // namespace

KernelKind kernel_kind(const DeviceModel& device, const PreparedOperation& operation) {
    const Family family = operation.family();
    if (const KernelRule* ruled = kernel_rule(operation, device.device)) {
        const TrainedLaw* law = find_trained_law(device, operation.operation, family);
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
        const TrainedLaw* law = find_trained_law(device, as_bf16, family);
        return {law, family, rule_for(law)};
    }
    const TrainedLaw* law = find_trained_law(device, operation.operation, family);
    if (const KernelRule::Pass rule = rule_for(law)) return {law, family, rule};
    const bool is_of_family = law != nullptr && is_family_law_key(law->key);
    if (!is_of_family || !is_scaling(operation.operation)) return {law, family};
    const TrainedLaw* elementwise = law_named(device, family_law_key(Family::elementwise, operation.operation));
    return elementwise ? KernelKind{elementwise, Family::elementwise} : KernelKind{law, family};
}

std::optional<Told> told_as_product(const DeviceModel& device, std::span<const Feature* const> columns,
                                    const PreparedOperation& operation) {
    const auto product = as_plain_product(operation, device.device);
    if (!product) return std::nullopt;
    const PreparedOperation twin = prepare_unnamed(*product, device.device, Math::ieee);
    auto told = learned_kernel_s(device, columns, twin, kernel_kind(device, twin));
    if (told) told->value = std::max(told->value, least_in_tiles_s(operation, device.device));
    return told;
}

std::optional<Told> told_kernel_s(const DeviceModel& device, std::span<const Feature* const> columns,
                                  const PreparedOperation& operation, const KernelKind& kind) {
    if (kind.rule) return Told{most_of(kind.rule(operation, device.device), operation, device.device)};
    const auto product = told_as_product(device, columns, operation);
    if (!product) {
        auto told = learned_kernel_s(device, columns, operation, kind);
        if (told) told->value = as_torch_attends(told->value, device, operation);
        return told;
    }
    return Told{most_of(std::min(product->value, winograd_s(operation, device.device)), operation, device.device)};
}

double least_told_s(const DeviceModel& device, const PreparedOperation& operation, Family family) {
    if (const auto product = as_plain_product(operation, device.device)) {
        const PreparedOperation twin = prepare_unnamed(*product, device.device, Math::ieee);
        return std::min(least_told_s(device, twin, Family::matmul), winograd_s(operation, device.device));
    }
    double opinion = std::numeric_limits<double>::max();
    for (const Expert& expert : *device.unseen->experts) {
        if (expert.model.family == family) opinion = std::min(opinion, expert.model.parts.front().low);
    }
    const double told =
        as_torch_attends(std::exp(log_base(Base::kernel, device, operation).value() + opinion), device, operation);
    return most_of(at_rate_of_sums(told, operation, device.device), operation, device.device);
}

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

}  // namespace joulecast
