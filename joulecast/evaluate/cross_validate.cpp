#include "joulecast/evaluate/cross_validate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/evaluate/baseline_rows.h"
#include "joulecast/evaluate/published_baselines.h"
#include "joulecast/evaluate/summed_calls.h"
#include "joulecast/forecast/at_point.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/learn/folds.h"
#include "joulecast/physics/clock_curve.h"
#include "joulecast/train/fit_over_clocks.h"
#include "joulecast/train/outliers.h"

namespace joulecast {
namespace {

/// Not learned by itself: power times time.
constexpr const char* energy_metric = "energy_j";

struct Variant {
    std::string name;
    std::optional<Learner> learner;
};

std::vector<Variant> variants(const ValidationSettings& settings) {
    std::vector<Variant> variants;
    for (const auto& learner : settings.learners)
        variants.push_back({learner ? std::string(name(*learner)) : "joulecast", learner});
    if (variants.empty()) variants.push_back({"joulecast", settings.training.learner});
    return variants;
}

OutOfFoldRow blank(const TrainingRow& row, const DeviceModel& device, std::string model, std::size_t fold) {
    OutOfFoldRow result;
    result.model = std::move(model);
    result.metric = name(Metric::time);
    result.family = name(row.operation.family());
    result.device = device.device.id;
    result.mode = name(mode(row.operation.operation));
    result.math = name(device.point.math);
    result.fold = fold;
    result.group = row.group;
    result.measured = row.time_s;
    return result;
}

template <class Unit>
void fill(OutOfFoldRow& row, Metric metric, double measured, const Estimate<Unit>& forecast) {
    row.metric = name(metric);
    row.measured = measured;
    row.predicted = forecast.value.value();
    row.low = forecast.low.value();
    row.high = forecast.high.value();
}

/// The row as it is forecast. A published method of one clock sees the clock that was read, as it did in training.
PreparedOperation at_clock_of(const DeviceModel& device, const TrainingRow& row) {
    PreparedOperation operation = at_own_clocks(device, row);
    const double ratio = row.sm_clock_mhz / device.point.sm_clock_mhz;
    if (device.published && !device.over_clocks && ratio > 0) operation.clocks.x = ratio;
    return operation;
}

/// What tables call the forecasts of a predictor: those of a published method as its baseline.
std::string model_name(const DeviceModel& device) {
    return device.published ? std::string(baseline_of(device.published->method).name) : "joulecast";
}

/// The metrics of a row that a published method cannot tell.
void append_unknown(const OutOfFoldRow& empty, const TrainingRow& row, const Baseline& method,
                    std::vector<OutOfFoldRow>& out) {
    const auto append = [&](std::string_view metric, double measured) {
        if (!(measured > 0)) return;
        OutOfFoldRow& unknown = out.emplace_back(empty);
        unknown.metric = metric;
        unknown.measured = measured;
        unknown.predicted = std::numeric_limits<double>::quiet_NaN();
        unknown.no_forecast_reason = no_forecast_reason(method, metric);
    };
    append(name(Metric::time), row.time_s);
    append(name(Metric::power), row.power_w);
    append(energy_metric, row.power_w * row.time_s);
}

/// The forecast of what the row metered: a kernel whose issuing was timed apart ran again and again behind itself.
OperationForecast as_metered(const DeviceModel& device, const TrainingRow& row, const OperationForecast& forecast) {
    const bool is_kernel = is_of_device(row) && forecast.power_evidence == PowerEvidence::physical;
    return is_kernel ? issued_from(Host::graph, device, forecast) : forecast;
}

/// The forecast of what the row timed. Models over others tell of a call from Python, of which a graph has the kernel.
Estimate<Seconds> as_timed_there(const DeviceModel& device, const TrainingRow& row, const OperationForecast& forecast) {
    const bool is_replayed = row.host == Host::graph && device.unseen;
    return is_replayed ? issued_from(Host::graph, device, forecast).cost.device_time : as_timed(row, forecast);
}

/// Forecasts of one row: its time, and its power, energy and memory where those were measured and learned.
void forecast_row(const DeviceModel& device, std::span<const Feature* const> columns, const TrainingRow& row,
                  const std::string& model, std::size_t fold, std::vector<OutOfFoldRow>& out) {
    const auto forecast = forecast_operation(device, columns, at_clock_of(device, row), {});
    const OutOfFoldRow empty = blank(row, device, model, fold);
    if (forecast.evidence == Evidence::unknown && device.published)
        return append_unknown(empty, row, baseline_of(device.published->method), out);
    fill(out.emplace_back(empty), Metric::time, row.time_s, as_timed_there(device, row, forecast));
    if (row.power_w > 0 && forecast.power.known()) {
        const OperationForecast metered = as_metered(device, row, forecast);
        fill(out.emplace_back(empty), Metric::power, row.power_w, metered.power);
        fill(out.emplace_back(empty), Metric::power, row.power_w * row.time_s, metered.energy);
        out.back().metric = energy_metric;
    }
    if (std::isfinite(row.peak_memory_bytes) && forecast.cost.peak_memory.known())
        fill(out.emplace_back(empty), Metric::peak_memory, row.peak_memory_bytes, forecast.cost.peak_memory);
}

struct Parts {
    std::vector<TrainingRow> training;
    std::vector<const TrainingRow*> test;
};

/// The first variant's model, and the published methods.
struct Trained {
    DeviceModel model;
    FittedBaselines published;
};

void drop_outliers(const DeviceModel& frame, Parts& parts, const ValidationSettings& settings) {
    const std::size_t before = parts.training.size();
    parts.training = without(parts.training, find_outliers(frame, parts.training, {}));
    if (settings.dropped) settings.dropped(before - parts.training.size(), before);
}

/// Adds the forecasts of every variant and baseline.
Trained validate_part(const DeviceModel& frame, Parts parts, std::span<const TrainingNetwork> networks,
                      std::size_t fold, const ValidationSettings& settings, std::vector<OutOfFoldRow>& out) {
    if (settings.drop_outliers) drop_outliers(frame, parts, settings);
    const auto columns = all_columns();
    std::optional<DeviceModel> first;
    for (const Variant& variant : variants(settings)) {
        TrainSettings training = settings.training;
        training.learner = variant.learner;
        // Learners are compared by what they make of the rows.
        if (!settings.learners.empty() && variant.learner) training.others = nullptr;
        auto model = train_device(frame.device, frame.point, parts.training, networks, training);
        for (const TrainingRow* row : parts.test) forecast_row(model, columns, *row, variant.name, fold, out);
        if (!first) first = std::move(model);
    }
    FittedBaselines published = fit_baselines(settings.baselines, frame, parts.training, settings.training);
    for (const TrainingRow* row : parts.test) published.append_forecasts(on_device(*row, frame), fold, out);
    return {std::move(*first), std::move(published)};
}

/// Below this share of measured time a sum says nothing about composing measured operations.
constexpr double least_measured_share = 0.9;

void set_memory(NetworkAccuracy& result, const DeviceModel& device, const TrainingNetwork& network,
                const NetworkForecast& forecast) {
    const NetworkMeasurement& measured = network.measurement;
    result.measured_peak_bytes = measured.peak_memory_bytes;
    result.predicted_peak_bytes = forecast.cost.peak_memory.value.value();
    const auto settings =
        memory_settings(device.device, measured.real.host, computed_workspace(device), forecast.training);
    if (const auto plan = plan_memory(network.graph, settings)) result.planned_peak_bytes = plan->peak_bytes;
    const bool told = std::isfinite(measured.resident_bytes);
    result.resident_bytes = told ? measured.resident_bytes : forecast.resident_bytes;
    if (measured.mode != Mode::inference || !forecast.sponner) return;
    result.sponner_optimistic_bytes = forecast.sponner->optimistic_bytes;
    result.sponner_pessimistic_bytes = forecast.sponner->pessimistic_bytes;
}

NetworkAccuracy compare(const DeviceModel& device, std::span<const Feature* const> columns,
                        const TrainingNetwork& network, const MeasuredOperations& measured) {
    const NetworkMeasurement& m = network.measurement;
    const auto at_highest = forecast_network(network.graph, m.precision, device, columns, {}, m.real.host,
                                             measured_training(network.graph, m));
    OperatingPoint point = point_of(device, at_highest, m);
    if (device.published) point.power_limit_w = std::numeric_limits<double>::quiet_NaN();  // it knows none
    const bool is_elsewhere = point.sm_clock_mhz > 0 || point.memory_clock_mhz > 0 || point.power_limit_w > 0;
    const bool has_clocks = why_no_clocks(device).empty();
    const auto forecast = is_elsewhere && has_clocks ? at_point(at_highest, device, point) : at_highest;
    NetworkAccuracy result;
    result.network = m.model;
    result.device = device.device.id;
    result.symbols = m.symbols;
    result.mode = m.mode;
    result.precision = m.precision;
    result.engine = m.real.engine;
    result.host = m.real.host;
    result.sm_clock_mhz = point.sm_clock_mhz;
    result.memory_clock_mhz = point.memory_clock_mhz;
    result.power_limit_w = point.power_limit_w;
    result.real_sm_clock_mhz = m.real.sm_clock_mhz;
    result.predicted_sm_clock_mhz = forecast.point.sm_clock_mhz;
    if (device.clocks)
        result.lowest_chosen_mhz = joulecast::lowest_chosen_mhz(*device.clocks) - 0.5 * device.clocks->step_mhz;
    result.measured_power_w = measured_watts(m);
    result.predicted_power = forecast.power;
    result.measured_time_s = m.time.median_s;
    result.predicted_time = forecast.time;
    set_memory(result, device, network, forecast);
    result.inside_interval =
        forecast.time.low.value() <= m.time.median_s && m.time.median_s <= forecast.time.high.value();
    result.measured_energy_j = measured_joules(m);
    result.predicted_energy = forecast.energy;
    if (std::isfinite(result.measured_energy_j) && forecast.energy.known()) {
        result.energy_inside_interval = forecast.energy.low.value() <= result.measured_energy_j &&
                                        result.measured_energy_j <= forecast.energy.high.value();
    }
    const SummedCalls sum = summed_calls(network, device, columns, measured);
    result.measured_share = sum.measured_share;
    // Measured operations of a model of one clock add up to networks at that clock.
    const bool is_comparable = device.over_clocks || !is_elsewhere;
    // Kernels do not add up to a network whose host was waited for.
    const bool is_host_alike =
        sum.is_of_device ? !(m.issue && m.issue->launch_bound) : result.host == device.point.host;
    if (is_comparable && sum.measured_share >= least_measured_share && is_host_alike) {
        result.summed_time_s = sum.time_s;
        result.summed_energy_j = sum.energy_j;
    }
    return result;
}

/// Adds ratios and curves over the clocks, by forecasts that know none of these measurements.
void compare_over_clocks(const DeviceModel& device, std::span<const Feature* const> columns,
                         std::span<const TrainingNetwork> networks, NetworkValidation& validation) {
    const MeasuredOperations none;
    ForecastCache known(device, columns, none);
    std::ranges::move(network_ratios(known, networks), std::back_inserter(validation.ratios));
    std::ranges::move(network_curves(known, networks), std::back_inserter(validation.curves));
}

bool is_at(const TrainingNetwork& network, std::span<const TrainingNetwork> some) {
    return std::ranges::any_of(some, [&](const TrainingNetwork& other) {
        const NetworkMeasurement& a = network.measurement;
        const NetworkMeasurement& b = other.measurement;
        return a.model == b.model && a.symbols == b.symbols && a.mode == b.mode && a.precision == b.precision &&
               a.started_at == b.started_at && a.time.median_s == b.time.median_s;
    });
}

}  // namespace

std::vector<TrainingRow> rows_at_clocks_of(const DeviceModel& device, std::span<const TrainingRow> rows) {
    constexpr double same_clock = 0.03;
    if (device.over_clocks || device.device.kind != Device::Kind::gpu) return at_own_clocks(device, rows);
    std::vector<TrainingRow> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept), [&](const TrainingRow& row) {
        const bool is_asked = row.asked_sm_clock_mhz > 0 || row.asked_power_limit_w > 0;
        const double off = std::abs(std::log(row.sm_clock_mhz / device.point.sm_clock_mhz));
        return !is_asked || std::isnan(off) || off < same_clock;
    });
    return kept;
}

OperatingPoint point_of(const DeviceModel& device, const NetworkForecast& at_highest,
                        const NetworkMeasurement& network) {
    constexpr double set_by_another = 0.03;
    OperatingPoint point = network.asked;
    if (point.sm_clock_mhz > 0 || point.power_limit_w > 0 || !device.over_clocks) return point;
    // Nobody asked for a clock; what the card ran at though nothing held it, another program had set.
    const double own = at_highest.point.sm_clock_mhz;
    const bool is_held =
        network.conditions.limited_by == LimitedBy::power_cap || network.conditions.limited_by == LimitedBy::thermal;
    if (!is_held && network.real.sm_clock_mhz < (1 - set_by_another) * own)
        point.sm_clock_mhz = network.real.sm_clock_mhz;
    return point;
}

Error too_few_to_split(const Device& device) {
    return Error("too few different operations on " + device.id + " to split them into folds.");
}

std::vector<OutOfFoldRow> validate_operations(const Device& device, const OperatingPoint& setting,
                                              std::span<const TrainingRow> rows, const ValidationSettings& settings) {
    const auto fold_of = settings.grouped ? group_folds(rows, settings.folds, settings.training.seed)
                                          : random_folds(rows.size(), settings.folds, settings.training.seed);
    std::vector<OutOfFoldRow> out;
    const std::size_t held_out = settings.is_one_test_set ? 1 : settings.folds;
    for (std::size_t fold = 0; fold < held_out; ++fold) {
        Parts parts;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (fold_of[i] == fold) {
                parts.test.push_back(&rows[i]);
            } else {
                parts.training.push_back(rows[i]);
            }
        }
        if (!parts.test.empty() && !parts.training.empty()) {
            validate_part(frame_of(device, setting), std::move(parts), {}, fold, settings, out);
        }
        if (settings.progress) settings.progress(fold + 1, held_out);
    }
    if (out.empty()) throw too_few_to_split(device);
    return out;
}

std::vector<OutOfFoldRow> score_predictor(const DeviceModel& device, std::span<const Feature* const> columns,
                                          std::span<const TrainingRow> rows) {
    std::vector<OutOfFoldRow> out;
    for (const TrainingRow& row : rows_at_clocks_of(device, rows))
        forecast_row(device, columns, row, model_name(device), 0, out);
    return out;
}

NetworkValidation validate_networks(const Device& device, const OperatingPoint& setting,
                                    std::span<const TrainingRow> rows, std::span<const TrainingNetwork> networks,
                                    const MeasuredOperations& measured, const ValidationSettings& settings) {
    std::map<std::string, std::set<std::string>> groups;
    for (const TrainingNetwork& network : networks)
        groups[network.measurement.model].merge(operation_groups(network.graph));
    NetworkValidation validation;
    std::size_t fold = 0;
    const auto columns = all_columns();
    const auto at_highest = at_learnt_clocks(frame_of(device, setting), networks);
    for (const auto& [model, own] : groups) {
        Parts parts;
        for (const TrainingRow& row : rows) {
            if (own.contains(row.group)) {
                parts.test.push_back(&row);
            } else {
                parts.training.push_back(row);
            }
        }
        if (parts.training.empty()) {
            throw Error("without the operations of " + model + " the database has none left to train on.");
        }
        std::vector<TrainingNetwork> others;
        for (const TrainingNetwork& network : networks) {
            if (network.measurement.model != model) others.push_back(network);
        }
        const auto trained =
            validate_part(frame_of(device, setting), std::move(parts), others, fold, settings, validation.operations);
        std::vector<TrainingNetwork> of_setting = at_learnt_clocks(frame_of(device, setting), others);
        std::erase_if(of_setting, [&](const TrainingNetwork& n) { return n.measurement.real.host != setting.host; });
        const auto of_networks = fit_network_baselines(settings.network_baselines, of_setting, device);
        for (const TrainingNetwork& network : networks) {
            if (network.measurement.model != model) continue;
            validation.networks.push_back(compare(trained.model, columns, network, measured));
            // Published methods, and sums of a model of one clock, are of the highest.
            if (!trained.model.over_clocks && !is_at(network, at_highest)) continue;
            validation.compositions.push_back(composition_sample(trained.model, columns, network, measured));
            if (network.measurement.real.host != setting.host) continue;
            if (!is_at(network, at_highest)) continue;  // they know no clock
            append_networks(trained.published, network, device, setting, validation.baselines);
            append_networks(of_networks, network, device, validation.baselines);
        }
        std::vector<TrainingNetwork> left_out;
        std::ranges::copy_if(networks, std::back_inserter(left_out),
                             [&](const TrainingNetwork& n) { return n.measurement.model == model; });
        compare_over_clocks(trained.model, columns, left_out, validation);
        ++fold;
        if (settings.progress) settings.progress(fold, groups.size());
    }
    return validation;
}

NetworkValidation leave_clocks_out(const Device& device, const OperatingPoint& setting,
                                   std::span<const TrainingRow> rows, std::span<const TrainingNetwork> networks,
                                   const MeasuredOperations& measured, const ValidationSettings& settings) {
    constexpr double same_clock = 0.015;
    NetworkValidation validation;
    const DeviceModel frame = frame_over_clocks(frame_of(device, setting), rows, networks);
    if (!frame.over_clocks) return validation;
    const auto columns = all_columns();
    std::size_t fold = 0;
    for (const TrainedClock& clock : frame.over_clocks->trained) {
        const auto is_here = [&](double sm_mhz, double memory_mhz) {
            const double off = std::abs(std::log(sm_mhz / clock.sm_clock_mhz));
            const double memory_off = std::abs(std::log(memory_mhz / clock.memory_clock_mhz));
            return off < same_clock && !(memory_off >= same_clock);
        };
        Parts parts;
        for (const TrainingRow& row : rows) {
            if (is_here(row.sm_clock_mhz, row.memory_clock_mhz)) {
                parts.test.push_back(&row);
            } else {
                parts.training.push_back(row);
            }
        }
        std::vector<TrainingNetwork> others, here;
        for (const TrainingNetwork& network : networks) {
            const OperatingPoint at = clocks_of(network.measurement);
            (is_here(at.sm_clock_mhz, at.memory_clock_mhz) ? here : others).push_back(network);
        }
        if (parts.training.empty()) continue;
        const auto trained =
            validate_part(frame_of(device, setting), std::move(parts), others, fold++, settings, validation.operations);
        for (const TrainingNetwork& network : here)
            validation.networks.push_back(compare(trained.model, columns, network, measured));
        if (settings.progress) settings.progress(fold, frame.over_clocks->trained.size());
    }
    return validation;
}

NetworkValidation score_networks(const DeviceModel& device, std::span<const Feature* const> columns,
                                 std::span<const TrainingNetwork> networks, const MeasuredOperations& measured) {
    NetworkValidation validation;
    const auto at_highest = at_learnt_clocks(frame_of(device.device, device.point), networks);
    for (const TrainingNetwork& network : networks) {
        validation.networks.push_back(compare(device, columns, network, measured));
        if (!device.over_clocks && !is_at(network, at_highest)) continue;
        validation.compositions.push_back(composition_sample(device, columns, network, measured));
    }
    compare_over_clocks(device, columns, networks, validation);
    return validation;
}

}  // namespace joulecast
