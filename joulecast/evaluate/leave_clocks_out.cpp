#include "joulecast/evaluate/leave_clocks_out.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/evaluate/network_levels.h"
#include "joulecast/evaluate/sweep_choices.h"
#include "joulecast/learn/folds.h"
#include "joulecast/learn/model.h"
#include "joulecast/train/fit_learned_clocks.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// What the control loop of a power limit leaves of it.
constexpr double share_of_limit = 0.995;
constexpr std::size_t least_listed = 2;  // workloads that levels are fitted to
/// Two measurements at one clock differ by so much (standard deviation of the logarithm).
constexpr double repeat_sigma = 0.01;

/// All that workloads of other models teach of the device.
struct Lesson {
    ClockLesson clocks;
    LimitParameters limits;
    NetworkLevels levels;
    bool knows_levels = false;
    std::vector<Model> forests;  ///< of time and power; empty: too few rows
};

ClockedPoint point_of(const SweptRow& row, const ClockParameters& parameters) {
    return {relative_sm_clock(row.sm_clock_mhz, parameters),
            relative_memory_clock(row.asked.memory_clock_mhz, parameters), row.time_s, row.power_w};
}

std::vector<ListedWorkload> listed_workloads(std::span<const ClockSweep* const> sweeps,
                                             const ClockParameters& parameters) {
    std::vector<ListedWorkload> listed;
    for (const ClockSweep* sweep : sweeps) {
        if (sweep->kernels.empty()) continue;
        listed.push_back(
            {sweep->network.model, sweep->kernels, point_of(sweep->rows[reference_row(*sweep)], parameters)});
    }
    return listed;
}

void learn_levels(Lesson& lesson, std::span<const ClockSweep* const> others, const Device& device) {
    const auto listed = listed_workloads(others, lesson.clocks.parameters);
    lesson.knows_levels = listed.size() >= least_listed;
    lesson.levels = lesson.knows_levels ? network_levels(listed, device, lesson.clocks.parameters)
                                        : NetworkLevels{{}, default_power_levels(device)};
}

void learn_limits(Lesson& lesson, std::span<const ClockSweep* const> others, const Device& device) {
    std::vector<SweptLimits> workloads;
    for (const ClockSweep* sweep : others) {
        if (is_limit_sweep(*sweep)) workloads.push_back(swept_limits(*sweep, lesson.levels.time, device));
    }
    lesson.limits = fit_limit_parameters(default_limit_parameters(lesson.clocks.parameters, device), workloads);
}

std::vector<float> forest_row(const SweptRow& row, const SweptRow& reference) {
    const auto number = [](double value) { return static_cast<float>(value); };  // NaN: missing
    return {number(row.asked.sm_clock_mhz), number(row.asked.memory_clock_mhz), number(row.asked.power_limit_w),
            number(reference.time_s), number(reference.power_w)};
}

void grow_forests(Lesson& lesson, std::span<const ClockSweep* const> others, const ClockValidationSettings& settings) {
    std::vector<std::vector<float>> rows;
    std::vector<double> times;
    std::vector<double> powers;
    for (const ClockSweep* sweep : others) {
        const SweptRow& reference = sweep->rows[reference_row(*sweep)];
        if (sweep->rows.size() < 2) continue;
        for (const SweptRow& row : sweep->rows) {
            if (!(row.power_w > 0)) continue;
            rows.push_back(forest_row(row, reference));
            times.push_back(row.time_s);
            powers.push_back(row.power_w);
        }
    }
    if (rows.empty()) return;
    Samples samples(rows.size(), rows.front().size());
    for (std::size_t i = 0; i < rows.size(); ++i) samples.set_row(i, rows[i]);
    LearnerSettings forest = learner_settings(Learner::random_forest, settings.trees, settings.seed);
    forest.threads = settings.threads;
    lesson.forests = {fit_model(Learner::random_forest, samples, times, forest),
                      fit_model(Learner::random_forest, samples, powers, forest)};
}

template <class Unit>
Estimate<Unit> within(double value, double sigma) {
    const double factor = std::exp(normal_90 * sigma);
    return {Unit(value), Unit(value / factor), Unit(value * factor)};
}

/// The level errors of a way of forecasting, beside those that grow with the distance of the clock.
struct Sigmas {
    double time = 0;
    double power = 0;
};

class Forecaster {
  public:
    Forecaster(const Device& device, const ClockSweep& sweep)
        : device_(device), sweep_(sweep), reference_(reference_row(sweep)) {}

    std::size_t reference() const { return reference_; }

    std::vector<ClockForecast> by_curve(const std::string& model, const WorkloadCurve& curve,
                                        const Sigmas& sigmas) const {
        std::vector<ClockForecast> forecasts;
        for (std::size_t i = 0; i < sweep_.rows.size(); ++i) {
            const SweptRow& row = sweep_.rows[i];
            const ClockParameters& parameters = curve.parameters();
            const double y = relative_memory_clock(row.asked.memory_clock_mhz, parameters);
            const double limit = limit_w(row, device_);
            const double x =
                curve.within_limit(relative_sm_clock(row.asked.sm_clock_mhz, parameters), share_of_limit * limit, y);
            const double seconds = curve.time_s(x, y);
            const double watts = curve.power_w(x, y);
            const double distance = clock_distance(x, y, curve.known());
            const ClockSpread& spread = parameters.spread;
            ClockForecast& forecast = forecasts.emplace_back(named(model, i));
            forecast.sm_clock_mhz = x * parameters.highest_mhz;
            forecast.spread = spread;
            forecast.lowest_chosen_mhz = lowest_chosen_mhz(parameters) - 0.5 * parameters.step_mhz;
            forecast.time = within<Seconds>(seconds, std::hypot(repeat_sigma, sigmas.time, distance * spread.time));
            forecast.power = within<Watts>(watts, std::hypot(repeat_sigma, sigmas.power, distance * spread.power));
            forecast.energy = within<Joules>(
                seconds * watts,
                std::hypot(repeat_sigma, std::hypot(sigmas.time, sigmas.power), distance * spread.energy));
        }
        return forecasts;
    }

    std::vector<ClockForecast> by_limits(const std::string& model, const LimitParameters& parameters,
                                         const KernelLevels& levels) const {
        const LimitCurve curve = curve_of(parameters, swept_limits(sweep_, levels, device_));
        std::vector<ClockForecast> forecasts;
        for (std::size_t i = 0; i < sweep_.rows.size(); ++i) {
            const SweptRow& row = sweep_.rows[i];
            const LimitedPoint at = curve.at(limit_w(row, device_));
            const double distance = limit_distance(at.limit_w, curve.known());
            const ClockSpread& spread = parameters.spread;
            ClockForecast& forecast = forecasts.emplace_back(named(model, i));
            forecast.sm_clock_mhz = at.working_x * parameters.clocks.highest_mhz;
            forecast.time = within<Seconds>(at.time_s, distance * spread.time);
            forecast.power = within<Watts>(at.power_w, distance * spread.power);
            forecast.energy = within<Joules>(at.time_s * at.power_w, distance * spread.energy);
        }
        return forecasts;
    }

    std::vector<ClockForecast> by_forest(const Lesson& lesson) const {
        std::vector<ClockForecast> forecasts;
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t i = 0; i < sweep_.rows.size(); ++i) {
            const auto row = forest_row(sweep_.rows[i], sweep_.rows[reference_]);
            const double seconds = predict(lesson.forests[0], row);
            const double watts = predict(lesson.forests[1], row);
            ClockForecast& forecast = forecasts.emplace_back(named("thesis_forest", i));
            forecast.sm_clock_mhz = sweep_.rows[i].asked.sm_clock_mhz;
            forecast.time = {Seconds(seconds), Seconds(none), Seconds(none)};
            forecast.power = {Watts(watts), Watts(none), Watts(none)};
            forecast.energy = {Joules(seconds * watts), Joules(none), Joules(none)};
        }
        return forecasts;
    }

  private:
    ClockForecast named(const std::string& model, std::size_t row) const {
        ClockForecast forecast;
        forecast.model = model;
        forecast.workload = sweep_.workload();
        forecast.device = device_.id;
        forecast.network = sweep_.network;
        forecast.row = sweep_.rows[row];
        forecast.is_reference = row == reference_;
        return forecast;
    }

    const Device& device_;
    const ClockSweep& sweep_;
    std::size_t reference_;
};

/// The curve from the reference row, by the device's parameters.
WorkloadCurve curve_from_reference(const ClockSweep& sweep, const ClockParameters& parameters,
                                   const KernelLevels& levels, int units, std::span<const KnownShare> shares) {
    const ClockedPoint known = point_of(sweep.rows[reference_row(sweep)], parameters);
    if (sweep.kernels.empty())
        return {parameters, likely_kernels(signs_of(sweep), shares), 0, known, traits_of(sweep, {})};
    const auto kernels = kernel_times(sweep.kernels, levels, units);
    return {parameters, kernels, issuing_s(sweep.kernels, levels), known, traits_of(sweep, kernels)};
}

/// Of a sweep over power limits; nothing where the highest one's power was not measured.
std::vector<std::vector<ClockForecast>> limit_forecasts(const Forecaster& forecaster, const ClockSweep& sweep,
                                                        const Lesson& lesson, const ClockParameters& defaults,
                                                        const Device& device) {
    if (!(sweep.rows[forecaster.reference()].power_w > 0)) return {};
    return {forecaster.by_limits("joulecast", lesson.limits, lesson.levels.time),
            forecaster.by_limits("joulecast_defaults", default_limit_parameters(defaults, device), KernelLevels{})};
}

std::vector<std::vector<ClockForecast>> clock_forecasts(const Forecaster& forecaster, const ClockSweep& sweep,
                                                        const Lesson& lesson, const ClockParameters& defaults,
                                                        const Device& device) {
    return {forecaster.by_curve("joulecast",
                                curve_from_reference(sweep, lesson.clocks.parameters, lesson.levels.time, device.units,
                                                     lesson.clocks.shares),
                                {}),
            forecaster.by_curve("joulecast_defaults",
                                curve_from_reference(sweep, defaults, KernelLevels{}, device.units, {}), {})};
}

std::vector<std::vector<ClockForecast>> forecasts_of(const ClockSweep& sweep, const Lesson& lesson,
                                                     const ClockParameters& defaults, const Device& device) {
    const Forecaster forecaster(device, sweep);
    std::vector<std::vector<ClockForecast>> forecasts;
    if (sweep.rows.size() > 1)
        forecasts =
            (is_limit_sweep(sweep) ? limit_forecasts : clock_forecasts)(forecaster, sweep, lesson, defaults, device);
    if (!sweep.kernels.empty() && lesson.knows_levels) {
        const ClockParameters& parameters = lesson.clocks.parameters;
        const double x = lesson.levels.x;
        const ClockedPoint fitted{
            x, 1, workload_s(sweep.kernels, lesson.levels.time, device.units, parameters, x),
            workload_w(sweep.kernels, lesson.levels.time, lesson.levels.power, device.units, parameters, x)};
        const WorkloadCurve curve(parameters, kernel_times(sweep.kernels, lesson.levels.time, device.units),
                                  issuing_s(sweep.kernels, lesson.levels.time), fitted);
        auto rows =
            forecaster.by_curve("joulecast_operations", curve, {lesson.levels.sigma_time, lesson.levels.sigma_power});
        for (ClockForecast& row : rows) row.is_reference = false;
        forecasts.push_back(std::move(rows));
    }
    if (sweep.rows.size() > 1 && !lesson.forests.empty()) forecasts.push_back(forecaster.by_forest(lesson));
    return forecasts;
}

/// Fold of each sweep, those of one model together.
std::vector<std::size_t> folds_of(std::span<const ClockSweep> sweeps, const ClockValidationSettings& settings,
                                  std::size_t& folds) {
    std::vector<std::string> models;
    for (const ClockSweep& sweep : sweeps) models.push_back(sweep.network.model);
    const std::set<std::string> distinct(models.begin(), models.end());
    folds = std::min(settings.folds, distinct.size());
    if (folds < 2) return std::vector<std::size_t>(sweeps.size(), 0);
    if (distinct.size() > settings.folds) return group_folds(models, folds, settings.seed);
    std::vector<std::size_t> fold;
    for (const std::string& model : models)
        fold.push_back(static_cast<std::size_t>(std::distance(distinct.begin(), distinct.find(model))));
    return fold;
}

}  // namespace

ClockValidation validate_clocks(const Device& device, std::span<const ClockSweep> sweeps,
                                std::span<const IdlePoint> idle, const ClockValidationSettings& settings) {
    const std::string missing = missing_for_clocks(device);
    if (!missing.empty()) throw Error("cannot score " + device.id + " over its clocks: no " + missing + ".");
    ClockValidation validation;
    for (const ClockSweep& sweep : sweeps) {
        validation.swept += sweep.rows.size() > 1 ? 1 : 0;
        validation.listed += sweep.kernels.empty() ? 0 : 1;
    }
    const ClockParameters defaults = parameters_for(device, sweeps, idle);
    std::size_t folds = 0;
    const auto fold_of = folds_of(sweeps, settings, folds);
    std::vector<ClockChoice> choices;
    for (std::size_t fold = 0; fold < std::max<std::size_t>(folds, 1); ++fold) {
        std::vector<const ClockSweep*> others;
        for (std::size_t i = 0; i < sweeps.size(); ++i) {
            if (fold_of[i] != fold) others.push_back(&sweeps[i]);
        }
        Lesson lesson;
        lesson.clocks.parameters = defaults;
        learn_levels(lesson, others, device);
        lesson.clocks = learn_sweeps(lesson.clocks.parameters, others, lesson.levels.time, device.units);
        learn_limits(lesson, others, device);
        grow_forests(lesson, others, settings);
        for (std::size_t i = 0; i < sweeps.size(); ++i) {
            if (fold_of[i] != fold) continue;
            for (auto& forecasts : forecasts_of(sweeps[i], lesson, defaults, device)) {
                const bool has_floor = forecasts.front().model != "thesis_forest";
                choose_by_forecasts(sweeps[i], forecasts,
                                    has_floor ? floor_share(sweeps[i], lesson.clocks.parameters) : 0, choices);
                std::move(forecasts.begin(), forecasts.end(), std::back_inserter(validation.networks));
            }
            choose_by_rules(sweeps[i], others, choices);
        }
    }
    validation.regrets = summarised(choices, device.id);
    return validation;
}

std::vector<OutOfFoldRow> out_of_fold_rows(std::span<const ClockForecast> forecasts) {
    std::vector<OutOfFoldRow> rows;
    for (const ClockForecast& forecast : forecasts) {
        if (forecast.is_reference) continue;
        const auto add = [&](const char* metric, double measured, double predicted, double low, double high) {
            if (!(measured > 0)) return;
            OutOfFoldRow row;
            row.model = forecast.model;
            row.metric = metric;
            row.family = "network";
            row.device = forecast.device;
            row.mode = name(forecast.network.mode);
            row.math = name(forecast.network.asked.math);
            row.group = forecast.network.model;
            row.measured = measured;
            row.predicted = predicted;
            row.low = low;
            row.high = high;
            rows.push_back(std::move(row));
        };
        const SweptRow& row = forecast.row;
        add("time_s", row.time_s, forecast.time.value.value(), forecast.time.low.value(), forecast.time.high.value());
        add("power_w", row.power_w, forecast.power.value.value(), forecast.power.low.value(),
            forecast.power.high.value());
        add("energy_j", row.time_s * row.power_w, forecast.energy.value.value(), forecast.energy.low.value(),
            forecast.energy.high.value());
    }
    return rows;
}

}  // namespace joulecast
