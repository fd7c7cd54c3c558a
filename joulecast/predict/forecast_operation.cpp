#include "joulecast/predict/forecast_operation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "joulecast/graph/family.h"
#include "joulecast/predict/clock_balance.h"
#include "joulecast/predict/device_power.h"
#include "joulecast/predict/forecast_unseen.h"
#include "joulecast/units/normal.h"

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

/// Between idle and busy, what an operation of a family that was never metered draws above idle is known no better.
constexpr double analytic_power_factor = 1.5;
/// Half widths of measurements are those of 95 % intervals; this share of them are those of 90 % ones.
constexpr double from_95_to_90 = normal_90 / normal_95;

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

/// `work_share` of the call, by its law.
PartsTogether read_parts(std::span<const PartForecast> parts, const Reading& reading, double work_share) {
    double sum = 0, whole = 0;
    double squares = 0;  // of the members about zero
    for (const PartForecast& one : parts) {
        double weight = 1;
        if (reading.weights == PartWeights::by_work)
            weight = one.part.base == Base::roofline ? work_share / 2 : 1 - work_share / 2;
        const double value = one.value(reading.middle);
        sum += weight * value;
        squares += weight * (value * value + one.members.variance);
        whole += weight;
    }
    const double value = sum / whole;
    return {value, std::sqrt(std::max(0.0, squares / whole - value * value))};
}

/// How much of the time that its law gives a call is work; all of it without a law.
double work_share_of(const DeviceModel& device, const Operation& operation, const Roofline& roofline) {
    const Law* law = find_law(device, operation);
    if (!law) return 1;
    const double work = work_seconds(*law, roofline);
    return work > 0 ? work / (work + law->floor_s) : 0;
}

std::optional<std::size_t> place_of(const FamilyModel& model, const std::string& target) {
    const auto found = std::lower_bound(model.targets.begin(), model.targets.end(), target);
    if (found == model.targets.end() || *found != target) return std::nullopt;
    return static_cast<std::size_t>(found - model.targets.begin());
}

/// The target's place, else that of the same call in place or out of place, which takes about the same time and power
/// but not the same memory.
double target_index(const FamilyModel& model, const std::string& target) {
    auto place = place_of(model, target);
    if (!place && model.metric != Metric::peak_memory) place = place_of(model, sibling_target(target));
    return place ? static_cast<double>(*place) : std::numeric_limits<double>::quiet_NaN();
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

void forecast_time(const DeviceModel& device, std::span<const Feature* const> columns,
                   const PreparedOperation& operation, ForwardKernels& kernels, OperationForecast& forecast) {
    auto& time = forecast.cost.device_time;
    const auto log = device.unseen ? forecast_unseen(device, columns, operation, kernels)
                                   : forecast_log(device, columns, operation, Metric::time);
    if (log) {
        time = {Seconds(std::exp(log->log_value)), Seconds(std::exp(log->log_value - log->half_width)),
                Seconds(std::exp(log->log_value + log->half_width))};
        forecast.evidence = log->inside ? Evidence::interpolated : Evidence::extrapolated;
        forecast.kernel_s = log->kernel_s;
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
}

struct PowerForecast {
    Estimate<Watts> watts;
    PowerEvidence evidence = PowerEvidence::none;
};

PowerForecast forecast_power(const DeviceModel& device, std::span<const Feature* const> columns,
                             const PreparedOperation& operation, const OperationForecast& forecast) {
    const double time = forecast.cost.device_time.value.value();
    const double issue = forecast.cost.host_time.value.value();
    const PowerFacts& power = device.power;
    if (has_physical_power(device)) {
        const double kernel = std::isnan(forecast.kernel_s) ? beyond_floor(time, issue) : forecast.kernel_s;
        return {physical_watts(device, operation, time, kernel), PowerEvidence::physical};
    }
    if (!power.known()) return {};
    const double most = std::isnan(power.cap_w) ? std::numeric_limits<double>::infinity() : power.cap_w;
    const auto within = [&](double watts) {
        return Watts(std::clamp(watts, power.idle_w, std::max(most, power.idle_w)));
    };
    if (costs_nothing(operation.family()) || !(time > 0))
        return {{Watts(power.idle_w), Watts(power.idle_w), within(power.busy_w)}, PowerEvidence::shared};
    if (const auto log = forecast_log(device, columns, operation, Metric::power)) {
        const double watts = std::exp(log->log_value);
        const double factor = std::exp(log->half_width);
        return {{within(watts), within(watts / factor), within(watts * factor)}, PowerEvidence::learned};
    }
    // Nothing of its family was metered. What draws power is work: the share of the call beyond its launch.
    const double busy = beyond_floor(time, issue) / time;
    const double above_idle = busy * (power.busy_w - power.idle_w);
    return {{within(power.idle_w + above_idle), within(power.idle_w + above_idle / analytic_power_factor),
             within(power.idle_w + above_idle * analytic_power_factor)},
            PowerEvidence::shared};
}

/// Half of the 90 % interval in log; 0 for a value of zero.
template <class Unit>
double log_half_width(const Estimate<Unit>& estimate) {
    if (!(estimate.low.value() > 0)) return 0;
    return std::log(estimate.high.value() / estimate.low.value()) / 2;
}

Estimate<Joules> within_log(double value, double half_width) {
    return {Joules(value), Joules(value * std::exp(-half_width)), Joules(value * std::exp(half_width))};
}

/// Energy is power times time; their errors are taken as independent.
void set_energy(const DeviceModel& device, OperationForecast& forecast) {
    if (!forecast.power.known()) return;
    const double watts = forecast.power.value.value();
    const double time = forecast.cost.device_time.value.value();
    const double time_half = log_half_width(forecast.cost.device_time);
    const double power_half = log_half_width(forecast.power);
    forecast.energy = within_log(watts * time, std::hypot(time_half, power_half));
    const double known_idle = power_facts_of(device).idle_w;
    const double idle = std::isnan(known_idle) ? 0 : known_idle;
    const double above = std::max(0.0, watts - idle);
    // A share of the whole power is a larger share of what is above idle; at idle it is all of it.
    const double above_half = above > 0 ? std::min(largest_half_width, power_half * watts / above) : 0;
    forecast.cost.dynamic_energy = within_log(above * time, std::hypot(time_half, above_half));
}

template <class Unit>
Estimate<Unit> middle(std::vector<double> values, double half_width) {
    std::sort(values.begin(), values.end());
    const double value = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
    return {Unit(value), Unit(std::max(0.0, values.front() - half_width)), Unit(values.back() + half_width)};
}

/// All of a forecast but the operation, whose copy would take long beside it.
OperationForecast without_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                    const PreparedOperation& operation, const MeasuredOperations& measured,
                                    ForwardKernels& known) {
    OperationForecast forecast;
    forecast.balance = clock_balance(operation, device.device, device.point.math);
    forecast.cost.host_time = {Seconds(0), Seconds(0), Seconds(0)};
    const auto found = measured.find(operation.signature);
    const bool is_measured = found != measured.end();
    if (is_measured) {
        forecast.cost.device_time = found->second.time;
        forecast.evidence = Evidence::measured;
    } else if (operation.family() == Family::symbolic) {
        forecast.cost.device_time = {Seconds(0), Seconds(0), Seconds(0)};
        forecast.evidence = Evidence::analytic;
    } else {
        forecast_time(device, columns, operation, known, forecast);
    }
    if (device.device.kind == Device::Kind::gpu) {
        const double floor = issue_seconds(device, operation, forecast.cost.device_time.value.value());
        forecast.cost.host_time = {Seconds(floor), Seconds(floor), Seconds(floor)};
    }
    if (is_measured && found->second.power.known()) {
        forecast.power = found->second.power;
        forecast.power_evidence = PowerEvidence::measured;
    } else {
        const PowerForecast power = forecast_power(device, columns, operation, forecast);
        forecast.power = power.watts;
        forecast.power_evidence = power.evidence;
    }
    set_energy(device, forecast);
    if (operation.family() == Family::symbolic && !is_measured) return forecast;
    forecast.cost.peak_memory = forecast_memory(device, columns, operation);
    return forecast;
}

}  // namespace

PreparedOperation prepare(const Operation& operation, const Device& device, Math math) {
    return on({operation, signature(operation), dimensions(operation), {}}, device, math);
}

PreparedOperation prepare(const Operation& operation, const DeviceModel& device) {
    return prepare(operation, device.device, device.point.math);
}

PreparedOperation on(PreparedOperation operation, const Device& device, Math math) {
    const Counts counts = operation.dimensions.forward + operation.dimensions.backward;
    operation.roofline = roofline(counts, compute_dtype(operation.operation), device, math);
    return operation;
}

double issue_seconds(const DeviceModel& device, const PreparedOperation& operation, double call_s) {
    if (costs_nothing(operation.family())) return call_s;
    // Where launches were measured, they may have been those of a CUDA graph; the host issues eagerly.
    if (device.unseen) return device.call_overhead_s;
    const Law* law = find_law(device, operation.operation);
    return std::min(call_s, law ? law->floor_s : device.call_overhead_s);
}

double planned_bytes(const PreparedOperation& operation) {
    double bytes = operation.dimensions.output_bytes;
    for (const TensorType* tensor : tensors(operation.operation)) {
        if (tensor->requires_grad) bytes += static_cast<double>(byte_count(*tensor));
    }
    return bytes;
}

std::optional<double> log_base(Base base, const DeviceModel& device, const PreparedOperation& operation) {
    if (base == Base::watt) return 0;
    if (base == Base::output_bytes) return std::log(operation.dimensions.output_bytes + memory_offset_bytes);
    if (base == Base::planned_bytes) return std::log(planned_bytes(operation) + memory_offset_bytes);
    if (base == Base::kernel) return std::log(seconds(operation.roofline) + device.device.kernel_latency_s);
    const Law* law = find_law(device, operation.operation);
    if (!law) return std::nullopt;
    if (base == Base::law) return std::log(seconds(*law, operation.roofline));
    // An operation without work (an empty tensor) still costs its call.
    return std::log(std::max(seconds(operation.roofline), 1e-9));
}

FeatureContext feature_context(const DeviceModel& device, const FamilyModel& model, const PreparedOperation& operation,
                               std::optional<Law> law) {
    return {operation.operation,
            operation.dimensions,
            device.device,
            device.point,
            operation.roofline,
            law,
            target_index(model, operation.operation.target)};
}

std::vector<float> feature_row(const DeviceModel& device, const FamilyModel& model,
                               std::span<const Feature* const> columns, const PreparedOperation& operation) {
    const Law* law = find_law(device, operation.operation);
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
    std::vector<PartForecast> parts;
    parts.reserve(model.parts.size());
    for (const ModelPart& part : model.parts) {
        const auto base = log_base(part.base, device, operation);
        if (!base) return {};
        parts.push_back({part, *base, members(part.model, row)});
    }
    const bool is_inside = inside(model, columns, row);
    std::vector<LogForecast> forecasts;
    forecasts.reserve(readings.size());
    for (const Reading& reading : readings) {
        const bool by_work = reading.weights == PartWeights::by_work;
        const double work_share = by_work ? work_share_of(device, operation.operation, operation.roofline) : 1;
        const PartsTogether together = read_parts(parts, reading, work_share);
        const double scale = together.deviation + least_spread;
        const double half_width = model.score_90 * scale * (is_inside ? 1 : beyond_range);
        forecasts.push_back(
            {together.value, std::clamp(half_width, least_half_width, largest_half_width), scale, is_inside});
    }
    return forecasts;
}

double measured_seconds(const Measurement& measurement) {
    return measurement.time.median_s;
}

bool is_usable(const Measurement& measurement) {
    const bool measured = measurement.outcome == Outcome::ok || measurement.outcome == Outcome::unstable;
    const double time = measured_seconds(measurement);
    return measured && time > 0 && std::isfinite(time);
}

double measured_watts(const Measurement& measurement) {
    if (!measurement.energy) return std::numeric_limits<double>::quiet_NaN();
    const EnergySummary& energy = *measurement.energy;
    if (energy.power_w > 0) return energy.power_w;
    return energy.energy_j > 0 ? energy.energy_j / measured_seconds(measurement)
                               : std::numeric_limits<double>::quiet_NaN();
}

double measured_watts(const NetworkMeasurement& measurement) {
    if (measurement.energy && measurement.energy->power_w > 0) return measurement.energy->power_w;
    return measured_joules(measurement) / measurement.time.median_s;
}

double measured_joules(const NetworkMeasurement& measurement) {
    if (!measurement.energy) return std::numeric_limits<double>::quiet_NaN();
    const EnergySummary& energy = *measurement.energy;
    return energy.energy_j > 0 ? energy.energy_j : std::numeric_limits<double>::quiet_NaN();
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
        std::vector<double> watts;
        double half_width = 0;
        double watts_half_width = 0;
        for (const Measurement* one : all) {
            times.push_back(measured_seconds(*one));
            if (one->time.half_width_s > 0) half_width = std::max(half_width, one->time.half_width_s * from_95_to_90);
            if (!(measured_watts(*one) > 0)) continue;
            watts.push_back(measured_watts(*one));
            const double of_energy = one->energy->half_width_j / one->energy->energy_j;
            if (of_energy > 0) watts_half_width = std::max(watts_half_width, of_energy * watts.back() * from_95_to_90);
        }
        measured[text].time = middle<Seconds>(times, half_width);
        if (!watts.empty()) measured[text].power = middle<Watts>(watts, watts_half_width);
    }
    return measured;
}

OperationForecast forecast_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                     const PreparedOperation& operation, const MeasuredOperations& measured) {
    ForwardKernels none;
    OperationForecast forecast = without_operation(device, columns, operation, measured, none);
    forecast.operation = operation.operation;
    return forecast;
}

OperationForecast forecast_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                     PreparedOperation&& operation, const MeasuredOperations& measured,
                                     ForwardKernels& known) {
    OperationForecast forecast = without_operation(device, columns, operation, measured, known);
    forecast.operation = std::move(operation.operation);
    return forecast;
}

std::vector<OperationForecast> forecast_operations(const DeviceModel& device, std::span<const Feature* const> columns,
                                                   const Graph& graph, const MeasuredOperations& measured) {
    std::vector<OperationForecast> operations;
    for (const CountedOperation& counted : count_operations(graph)) {
        operations.push_back(forecast_operation(device, columns, prepare(counted.operation, device), measured));
        operations.back().count = counted.count;
    }
    return operations;
}

}  // namespace joulecast
