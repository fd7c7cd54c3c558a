#include "joulecast/predict/forecast_operation.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace joulecast {
namespace {

/// Spread that even unanimous members are given, and models without members: with less, 90 % intervals held too few of
/// the held-out rows.
constexpr double least_spread = 0.01;
/// Without any measurement of its kind a forecast is off by up to about this factor (roofline against measured
/// families on CPUs: 1.2 to 10 times, so the value is put at 3 times the roofline).
constexpr double analytic_slowdown = 3;
constexpr double analytic_factor = 4;
/// A view's cost is the dispatcher's: the smallest fitted floor, give or take this factor.
constexpr double overhead_factor = 2;

/// Held-out rows lie mostly inside the trained range, so beyond it their interval is too narrow; by how much is not
/// known, and this is no more than caution.
constexpr double beyond_range = 1.5;
/// Repeated measurements of one operation differ by about a percent; no forecast is better than that.
constexpr double least_half_width = 0.01;
/// A factor of ten: where the trees know as little as that, the roofline would do.
constexpr double largest_half_width = 2.3;

Estimate<Seconds> within_factor(double value, double factor) {
    return {Seconds(value), Seconds(value / factor), Seconds(value * factor)};
}

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

double target_index(const FamilyModel& model, const std::string& target) {
    const auto found = std::lower_bound(model.targets.begin(), model.targets.end(), target);
    if (found == model.targets.end() || *found != target) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(found - model.targets.begin());
}

Estimate<Bytes> forecast_memory(const DeviceModel& device, std::span<const Feature* const> columns,
                                const PreparedOperation& operation) {
    const auto log = forecast_log(device, columns, operation, Metric::peak_memory);
    if (!log) return {};
    const auto at = [&](double shift) {
        return Bytes(std::max(0.0, std::exp(log->log_value + shift) - memory_offset_bytes));
    };
    return {at(0), at(-log->half_width), at(log->half_width)};
}

Estimate<Seconds> analytic_time(const DeviceModel& device, const PreparedOperation& operation) {
    if (const Law* law = find_law(device, operation.operation)) {
        return within_factor(seconds(*law, operation.roofline), analytic_factor);
    }
    const double work = analytic_slowdown * seconds(operation.roofline);
    return within_factor(std::max(work, device.call_overhead_s), analytic_factor);
}

}  // namespace

PreparedOperation prepare(const Operation& operation, const Device& device, Math math) {
    PreparedOperation prepared{operation, signature(operation), dimensions(operation), {}};
    prepared.roofline =
        roofline(prepared.dimensions.forward + prepared.dimensions.backward, compute_dtype(operation), device, math);
    return prepared;
}

std::optional<double> log_base(Base base, const DeviceModel& device, const PreparedOperation& operation) {
    if (base == Base::output_bytes) return std::log(operation.dimensions.output_bytes + memory_offset_bytes);
    const Law* law = find_law(device, operation.operation);
    if (!law) return std::nullopt;
    if (base == Base::law) return std::log(seconds(*law, operation.roofline));
    // An operation without work (an empty tensor) still costs its call.
    return std::log(std::max(seconds(operation.roofline), 1e-9));
}

std::vector<float> feature_row(const DeviceModel& device, const FamilyModel& model,
                               std::span<const Feature* const> columns, const PreparedOperation& operation) {
    const Law* law = find_law(device, operation.operation);
    const FeatureContext context{operation.operation,
                                 operation.dimensions,
                                 device.device,
                                 device.point,
                                 operation.roofline,
                                 law ? std::optional(*law) : std::nullopt,
                                 target_index(model, operation.operation.target)};
    return feature_row(columns, context);
}

std::optional<LogForecast> forecast_log(const DeviceModel& device, std::span<const Feature* const> columns,
                                        const PreparedOperation& operation, Metric metric) {
    const FamilyModel* model = find_model(device, operation.family(), metric);
    if (!model) return std::nullopt;
    const auto row = feature_row(device, *model, columns, operation);
    double sum = 0;
    double squares = 0;  // of the members about zero
    for (const ModelPart& part : model->parts) {
        const auto base = log_base(part.base, device, operation);
        if (!base) return std::nullopt;
        const MemberSums members = member_sums(part.model, row);
        const double mean = members.sum / members.count;
        const double value = *base + std::clamp(mean, part.low, part.high);
        sum += value;
        squares += value * value + std::max(0.0, members.squares / members.count - mean * mean);
    }
    const auto parts = static_cast<double>(model->parts.size());
    const double value = sum / parts;
    const double spread = std::sqrt(std::max(0.0, squares / parts - value * value));
    const bool is_inside = inside(*model, columns, row);
    const double half_width = model->score_90 * (spread + least_spread) * (is_inside ? 1 : beyond_range);
    return LogForecast{value, std::clamp(half_width, least_half_width, largest_half_width), spread + least_spread,
                       is_inside};
}

double measured_seconds(const Measurement& measurement) {
    return measurement.time.median_s;
}

bool is_usable(const Measurement& measurement) {
    const bool measured = measurement.outcome == Outcome::ok || measurement.outcome == Outcome::unstable;
    const double time = measured_seconds(measurement);
    return measured && time > 0 && std::isfinite(time);
}

MeasuredOperations measured_operations(std::span<const OperationRow> rows) {
    std::map<std::string, std::vector<const Measurement*>> by_signature;
    for (const OperationRow& row : rows) {
        if (is_usable(row.measurement)) {
            by_signature[signature(row.measurement.operation)].push_back(&row.measurement);
        }
    }
    MeasuredOperations measured;
    for (auto& [text, all] : by_signature) {
        std::vector<double> times;
        double half_width = 0;
        for (const Measurement* one : all) {
            times.push_back(measured_seconds(*one));
            // The half width is that of a 95 % interval; 1.645/1.960 of it is that of a 90 % one.
            if (one->time.half_width_s > 0) half_width = std::max(half_width, one->time.half_width_s * 0.8393);
        }
        std::sort(times.begin(), times.end());
        const double middle = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
        measured[text] = {Seconds(middle), Seconds(std::max(0.0, times.front() - half_width)),
                          Seconds(times.back() + half_width)};
    }
    return measured;
}

OperationForecast forecast_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                     const PreparedOperation& operation, const MeasuredOperations& measured) {
    OperationForecast forecast;
    forecast.operation = operation.operation;
    forecast.cost.host_time = {Seconds(0), Seconds(0), Seconds(0)};
    auto& time = forecast.cost.device_time;
    if (const auto found = measured.find(operation.signature); found != measured.end()) {
        time = found->second;
        forecast.evidence = Evidence::measured;
    } else if (operation.family() == Family::symbolic) {
        time = {Seconds(0), Seconds(0), Seconds(0)};
        forecast.evidence = Evidence::analytic;
        return forecast;
    } else if (const auto log = forecast_log(device, columns, operation, Metric::time)) {
        time = {Seconds(std::exp(log->log_value)), Seconds(std::exp(log->log_value - log->half_width)),
                Seconds(std::exp(log->log_value + log->half_width))};
        forecast.evidence = log->inside ? Evidence::interpolated : Evidence::extrapolated;
    } else if (!find_record(operation.operation.target)) {
        time = analytic_time(device, operation);
        forecast.evidence = Evidence::unknown;
    } else if (operation.family() == Family::view) {
        time = within_factor(device.call_overhead_s, overhead_factor);
        forecast.evidence = Evidence::analytic;
    } else {
        time = analytic_time(device, operation);
        forecast.evidence = Evidence::analytic;
    }
    forecast.cost.peak_memory = forecast_memory(device, columns, operation);
    return forecast;
}

}  // namespace joulecast
