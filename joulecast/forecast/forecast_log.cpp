#include "joulecast/forecast/forecast_log.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/forecast/forecast_unseen.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/graph/family.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// Spread that even unanimous members are given, and models without members: with less, 90 % intervals held too few of
/// the held-out rows.
constexpr double least_spread = 0.01;

/// Held-out rows lie mostly inside the trained range, so beyond it their interval is too narrow; by how much is not
/// known, and this is no more than caution.
constexpr double beyond_range = 1.5;

bool inside(const FamilyModel& model, std::span<const Feature* const> columns, const std::vector<float>& row) {
    // Sizes that decide the cost; half an octave beyond the trained range still counts as inside.
    constexpr std::array sizes{"flops", "bytes", "c", "k", "gemm_k", "last", "target"};
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (std::find(sizes.begin(), sizes.end(), columns[i]->name) == sizes.end()) continue;
        const bool is_target = columns[i]->name == "target";
        if (std::isnan(row[i])) {
            if (is_target) return false;
            continue;
        }
        const float slack = is_target ? 0.0F : 0.5F;
        if (row[i] < model.ranges[i].low - slack || row[i] > model.ranges[i].high + slack) return false;
    }
    return true;
}

/// Where no measured call tells how long arithmetic takes, other kinds of products of the device do (fit_laws()):
/// standard deviation of the logarithm. docs/decisions/0052.
constexpr double sigma_of_untold_arithmetic = 0.5;

bool tells_time_of_products(const FamilyModel& model) {
    return model.metric == Metric::time && multiplies_matrices(model.family);
}

/// Whether arithmetic decides what the call takes, by its law, and decided nothing that the model was trained on.
bool is_of_untold_arithmetic(const FamilyModel& model, std::span<const Feature* const> columns,
                             const std::vector<float>& row, const Law* law, const Roofline& roofline) {
    if (!tells_time_of_products(model) || !law) return false;
    const auto column = std::ranges::find(columns, "intensity", &Feature::name);
    if (column == columns.end() || !(roofline.byte_s > 0)) return false;
    const auto place = static_cast<std::size_t>(column - columns.begin());
    const double over_bytes =
        work_seconds(Law{0, law->flop_factor, 0, law->tiles}, roofline) / (law->byte_factor * roofline.byte_s);
    const double of_most_intense = over_bytes * std::exp2(model.ranges[place].high - row[place]);
    return over_bytes > 1 && of_most_intense < 1;
}

/// What one part of a model says of a row.
struct PartForecast {
    const ModelPart& part;
    double log_base = 0;
    Members members;

    double value(Middle middle) const {
        return log_base + std::clamp(middle == Middle::mean ? members.mean : members.midmean, part.low, part.high);
    }
};

/// The weighted mean over the parts, and how far all of their members lie apart.
struct PartsTogether {
    double value = 0;
    double deviation = 0;
};

/// `share_of_work` of the call, by its law. `by_law_alone`: without parts on another base.
PartsTogether read_parts(std::span<const PartForecast> parts, const Reading& reading, double share_of_work,
                         bool by_law_alone) {
    double sum = 0, whole = 0;
    double squares = 0;  // of the members about zero
    for (const PartForecast& part : parts) {
        if (by_law_alone && part.part.base != Base::law) continue;
        double weight = 1;
        if (reading.weights == PartWeights::by_work)
            weight = part.part.base == Base::roofline ? share_of_work / 2 : 1 - share_of_work / 2;
        const double value = part.value(reading.middle);
        sum += weight * value;
        squares += weight * (value * value + part.members.variance);
        whole += weight;
    }
    const double value = sum / whole;
    return {value, std::sqrt(std::max(0.0, squares / whole - value * value))};
}

/// Power above idle, as the model told it, to the whole power.
PartsTogether with_idle(const PartsTogether& above, const DeviceModel& device, const PreparedOperation& operation) {
    const double idle = static_w(*device.clocks, operation.clocks.x, operation.clocks.y);
    const double watts = std::exp(above.value);
    return {std::log(idle + watts), above.deviation * watts / (idle + watts)};
}

std::optional<std::size_t> place_in(const FamilyModel& model, const std::string& target) {
    const auto found = std::lower_bound(model.targets.begin(), model.targets.end(), target);
    if (found == model.targets.end() || *found != target) return std::nullopt;
    return static_cast<std::size_t>(found - model.targets.begin());
}

/// The target's place, else that of the same call in place or out of place, which takes about the same time and power
/// but not the same memory.
double target_index(const FamilyModel& model, const std::string& target) {
    auto place = place_in(model, target);
    if (!place && model.metric != Metric::peak_memory) place = place_in(model, sibling_target(target));
    return place ? static_cast<double>(*place) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::optional<double> log_base(Base base, const DeviceModel& device, const PreparedOperation& operation) {
    if (base == Base::watt) return 0;
    if (base == Base::output_bytes) return std::log(operation.dimensions.output_bytes + memory_offset_bytes);
    if (base == Base::planned_bytes) return std::log(planned_bytes(operation) + memory_offset_bytes);
    if (base == Base::kernel) return std::log(seconds(operation.roofline) + device.device.kernel_latency_s);
    const Law* law = find_law(device, operation.operation, operation.family());
    if (!law) return std::nullopt;
    if (base == Base::dynamic_watt) {
        const double watts = dynamic_watts(device, operation, *law, seconds(*law, operation.roofline));
        const double idle = static_w(*device.clocks, operation.clocks.x, operation.clocks.y);
        return std::log(std::max(watts, least_dynamic_share * idle));
    }
    if (base == Base::law) return std::log(seconds(*law, operation.roofline));
    // An operation without work (an empty tensor) still costs its call.
    const Law whole_tiles{0, 1, 1, law->tiles};
    return std::log(std::max(work_seconds(whole_tiles, operation.roofline), 1e-9));
}

FeatureContext feature_context(const DeviceModel& device, const FamilyModel& model, const PreparedOperation& operation,
                               std::optional<Law> law) {
    return {operation.operation,
            operation.dimensions,
            device.device,
            device.point,
            operation.roofline,
            law,
            target_index(model, operation.operation.target),
            operation.clocks};
}

std::vector<float> feature_row(const DeviceModel& device, const FamilyModel& model,
                               std::span<const Feature* const> columns, const PreparedOperation& operation) {
    const Law* law = find_law(device, operation.operation, operation.family());
    return feature_row(columns, feature_context(device, model, operation, law ? std::optional(*law) : std::nullopt));
}

std::optional<LogForecast> forecast_log(const DeviceModel& device, std::span<const Feature* const> columns,
                                        const PreparedOperation& operation, Metric metric) {
    if (device.unseen && metric == Metric::time) {
        ForwardKernels none;
        return forecast_unseen(device, columns, operation, none);
    }
    const FamilyModel* model = find_model(device, operation.family(), metric);
    if (!model) return std::nullopt;
    return forecast_log(device, *model, columns, operation, feature_row(device, *model, columns, operation));
}

std::optional<LogForecast> forecast_log(const DeviceModel& device, const FamilyModel& model,
                                        std::span<const Feature* const> columns, const PreparedOperation& operation,
                                        const std::vector<float>& row) {
    const auto forecasts = forecast_log(device, model, columns, operation, row, {&model.reading, 1});
    return forecasts.empty() ? std::nullopt : std::optional(forecasts.front());
}

std::vector<LogForecast> forecast_log(const DeviceModel& device, const FamilyModel& model,
                                      std::span<const Feature* const> columns, const PreparedOperation& operation,
                                      const std::vector<float>& row, std::span<const Reading> readings) {
    const bool needs_midmean = std::any_of(readings.begin(), readings.end(),
                                           [](const Reading& reading) { return reading.middle == Middle::midmean; });
    std::vector<PartForecast> parts;
    parts.reserve(model.parts.size());
    for (const ModelPart& part : model.parts) {
        const auto base = log_base(part.base, device, operation);
        if (!base) return {};
        parts.push_back({part, *base, members(part.model, row, needs_midmean)});
    }
    const bool by_work = std::any_of(readings.begin(), readings.end(),
                                     [](const Reading& reading) { return reading.weights == PartWeights::by_work; });
    const Law* law =
        by_work || tells_time_of_products(model) ? find_law(device, operation.operation, operation.family()) : nullptr;
    const double share_of_work = law && by_work ? work_share(*law, operation.roofline) : 1;
    const bool is_untold = is_of_untold_arithmetic(model, columns, row, law, operation.roofline);
    const bool by_law_alone =
        is_untold && std::ranges::any_of(parts, [](const PartForecast& part) { return part.part.base == Base::law; });
    const bool is_inside = !is_untold && inside(model, columns, row);
    std::vector<LogForecast> forecasts;
    forecasts.reserve(readings.size());
    for (const Reading& reading : readings) {
        PartsTogether together = read_parts(parts, reading, share_of_work, by_law_alone);
        if (model.parts.front().base == Base::dynamic_watt) together = with_idle(together, device, operation);
        const double scale = together.deviation + least_spread;
        double half_width = model.score_90 * scale * (is_inside ? 1 : beyond_range);
        if (is_untold) half_width = std::hypot(half_width, normal_90 * sigma_of_untold_arithmetic);
        forecasts.push_back(
            {together.value, std::clamp(half_width, least_half_width, largest_half_width), scale, is_inside});
    }
    return forecasts;
}

}  // namespace joulecast
