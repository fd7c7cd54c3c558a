#include "joulecast/train/published/train_published.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/forecast_memory.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/graph/family.h"
#include "joulecast/learn/conformal.h"
#include "joulecast/learn/folds.h"
#include "joulecast/train/fit_over_clocks.h"
#include "joulecast/train/published/fit_method.h"

namespace joulecast {
namespace {

/// Of a regression without held-out rows, nobody knows how far it is off.
constexpr double unknown_half_width = 1.4;  // a factor of 4
/// Sums of the thesis' own published measurements miss its networks by 7 to 31 %; it counts as so many models.
constexpr double default_sigma = 0.3;
constexpr double models_of_default = 2;
constexpr double default_memory_half_width = 0.3;
constexpr std::size_t least_memories = 3;

/// What the methods forecast.
std::vector<Metric> metrics_of(PublishedMethod method) {
    if (method == PublishedMethod::thesis) return {Metric::time, Metric::power};
    return {Metric::time, Metric::power, Metric::peak_memory};
}

bool is_measured(double value, Metric metric) {
    return metric == Metric::peak_memory ? value >= 0 : value > 0;
}

/// What was measured of the metric in the rows that `is_taken` takes.
template <class Taken>
std::vector<Observation> observations(std::span<const TrainingRow> rows, const DeviceModel& device, Metric metric,
                                      Taken is_taken) {
    std::vector<Observation> observations;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double value = measured_value(rows[i], metric);
        if (is_taken(i) && is_measured(value, metric))
            observations.push_back({subject_of(rows[i], device.device, device.point), rows[i].group, value});
    }
    return observations;
}

/// Regressions that saw no row of a fold, for each fold.
struct HeldOut {
    std::vector<PublishedModel> models;
    std::map<std::string, std::size_t> fold_of;  ///< by group
};

HeldOut hold_out(const DeviceModel& device, std::span<const TrainingRow> rows, const TrainSettings& settings) {
    const PublishedModel& whole = *device.published;
    const auto fold_of = group_folds(rows, settings.folds, settings.seed);
    HeldOut held_out;
    for (std::size_t i = 0; i < rows.size(); ++i) held_out.fold_of[rows[i].group] = fold_of[i];
    for (std::size_t fold = 0; fold < settings.folds; ++fold) {
        PublishedModel& model = held_out.models.emplace_back(PublishedModel{whole.method, {}});
        for (const Metric metric : metrics_of(whole.method)) {
            std::vector<PublishedRegression> like;
            for (const PublishedRegression& regression : whole.regressions) {
                if (regression.metric == metric)
                    like.push_back({regression.key, regression.metric, regression.learner, {}, {}, 0, 0, {}});
            }
            const auto inside = observations(rows, device, metric, [&](std::size_t i) { return fold_of[i] != fold; });
            auto fitted = refit(whole.method, like, inside, {settings.seed, settings.threads});
            std::move(fitted.begin(), fitted.end(), std::back_inserter(model.regressions));
        }
    }
    return held_out;
}

void set_half_widths(DeviceModel& device, std::span<const TrainingRow> rows, const HeldOut& held_out) {
    std::map<std::pair<std::string, Metric>, std::vector<double>> scores;
    for (const TrainingRow& row : rows) {
        const Subject subject = subject_of(row, device.device, device.point);
        const PublishedModel& model = held_out.models[held_out.fold_of.at(row.group)];
        for (const Metric metric : metrics_of(model.method)) {
            const double value = measured_value(row, metric);
            const auto told = value > 0 ? forecast(model, metric, subject) : std::nullopt;
            if (told)
                scores[{regression_key(model.method, subject), metric}].push_back(
                    std::abs(std::log(told->value / value)));
        }
    }
    for (PublishedRegression& regression : device.published->regressions) {
        const auto found = scores.find({regression.key, regression.metric});
        regression.half_width = found == scores.end()
                                    ? unknown_half_width
                                    : std::min(conformal_quantile(found->second, 0.9), largest_half_width);
    }
}

/// A network as the sum of its calls, each by regressions that saw no row of its group; NaN where one has no forecast.
struct Sum {
    double time_s = 0;
    double energy_j = 0;
};

Sum summed(const TrainingNetwork& network, const DeviceModel& device, const HeldOut& held_out) {
    Sum sum;
    const ClockPlace place = place_of(device, network.measurement);
    for (const CountedOperation& counted : count_operations(network.graph)) {
        const PreparedOperation operation = prepare(counted.operation, device, place);
        if (costs_nothing(operation.family())) continue;
        const auto fold = held_out.fold_of.find(operation_group(counted.operation));
        const PublishedModel& model =
            fold == held_out.fold_of.end() ? *device.published : held_out.models[fold->second];
        const Subject subject = subject_of(device, operation);
        const auto time = forecast(model, Metric::time, subject);
        const auto power = forecast(model, Metric::power, subject);
        const auto count = static_cast<double>(counted.count);
        const double seconds = time ? count * time->value : std::numeric_limits<double>::quiet_NaN();
        sum.time_s += seconds;
        sum.energy_j += power ? seconds * power->value : std::numeric_limits<double>::quiet_NaN();
    }
    return sum;
}

/// Log errors of networks, each of a model by its name.
struct Errors {
    std::vector<double> logs;
    std::set<std::string> models;

    void add(const std::string& model, double measured, double told) {
        const double log = std::log(measured / told);
        if (!std::isfinite(log)) return;
        logs.push_back(log);
        models.insert(model);
    }
    /// Their root mean square, bias included, since nothing corrects it; with few models near the default.
    double sigma() const {
        double squares = 0;
        for (const double log : logs) squares += log * log / static_cast<double>(logs.size());
        const auto count = static_cast<double>(models.size());
        return std::sqrt((count * squares + models_of_default * default_sigma * default_sigma) /
                         (count + models_of_default));
    }
};

double memory_half_width(const DeviceModel& device, std::span<const TrainingNetwork> networks) {
    std::vector<double> errors;
    for (const TrainingNetwork& network : networks) {
        const NetworkMeasurement& m = network.measurement;
        const auto plan =
            plan_memory(network.graph, memory_settings(device.device, m.real.host, computed_workspace(device),
                                                       measured_training(network.graph, m)));
        if (plan && m.peak_memory_bytes > 0)
            errors.push_back(std::abs(std::log(m.peak_memory_bytes / plan->peak_bytes)));
    }
    return errors.size() < least_memories ? default_memory_half_width : conformal_quantile(errors, 0.9);
}

void set_network_errors(DeviceModel& device, std::span<const TrainingNetwork> networks, const HeldOut& held_out) {
    Errors time, energy, power;
    for (const TrainingNetwork& network : networks) {
        const NetworkMeasurement& m = network.measurement;
        const Sum sum = summed(network, device, held_out);
        time.add(m.model, m.time.median_s, sum.time_s);
        energy.add(m.model, measured_joules(m), sum.energy_j);
        power.add(m.model, measured_watts(m), sum.energy_j / sum.time_s);
    }
    device.sigma_network = time.sigma();
    device.power.sigma_energy = energy.sigma();
    device.power.sigma_power = power.sigma();
    device.memory_half_width = memory_half_width(device, networks);
    device.networks = static_cast<std::int64_t>(networks.size());
}

/// Idle power is no part of the methods: an operation draws all of its power. What no regression tells of draws what
/// the rows do, by their time.
PowerFacts whole_power(std::span<const TrainingRow> rows) {
    PowerFacts facts;
    double seconds = 0, joules = 0;
    for (const TrainingRow& row : rows) {
        if (!(row.power_w > 0)) continue;
        seconds += row.time_s;
        joules += row.time_s * row.power_w;
    }
    if (!(seconds > 0)) return facts;
    facts.idle_w = 0;
    facts.busy_w = joules / seconds;
    return facts;
}

/// The thesis' model knows the clocks of rows that differ in them. Between these the curve of its forecasts has no idle
/// power of the device's own.
DeviceModel frame(PublishedMethod method, const Device& device, const OperatingPoint& setting,
                  std::span<const TrainingRow> rows, std::span<const TrainingNetwork> networks) {
    DeviceModel model = frame_of(device, setting);
    if (method == PublishedMethod::thesis) model = frame_over_clocks(std::move(model), rows, networks);
    if (method == PublishedMethod::sponner && differ_in_clocks(device, rows)) {
        constexpr double any = std::numeric_limits<double>::quiet_NaN();
        model.point.sm_clock_mhz = model.point.memory_clock_mhz = model.point.power_limit_w = any;
    }
    if (!model.over_clocks) model.clocks.reset();
    if (!model.clocks) return model;
    model.clocks->still_w = model.clocks->clocked_w = model.clocks->memory_w = 0;
    model.clocks->idle.clear();
    return model;
}

}  // namespace

Subject subject_of(const TrainingRow& row, const Device& device, const OperatingPoint& setting) {
    const double clock_mhz = row.sm_clock_mhz > 0 ? row.sm_clock_mhz : setting.sm_clock_mhz;
    return {&row.operation, &device, clock_mhz, setting.math};
}

DeviceModel train_published(PublishedMethod method, const Device& device, const OperatingPoint& setting,
                            std::span<const TrainingRow> rows, std::span<const TrainingNetwork> networks,
                            const TrainSettings& settings) {
    if (rows.empty()) throw Error("cannot train for " + device.id + ": no measured operations");
    DeviceModel trained = frame(method, device, setting, rows, networks);
    trained.published = PublishedModel{method, {}};
    auto& regressions = trained.published->regressions;
    for (const Metric metric : metrics_of(method)) {
        const auto observed = observations(rows, trained, metric, [](std::size_t) { return true; });
        auto fitted = fit_method(method, metric, observed, {settings.seed, settings.threads});
        std::move(fitted.begin(), fitted.end(), std::back_inserter(regressions));
    }
    std::ranges::stable_sort(regressions, {}, [](const PublishedRegression& regression) {
        return std::pair(regression.key, regression.metric);
    });
    trained.power = whole_power(rows);
    const HeldOut held_out = hold_out(trained, rows, settings);
    set_half_widths(trained, rows, held_out);
    set_network_errors(trained, at_learnt_clocks(trained, networks), held_out);
    return trained;
}

}  // namespace joulecast
