#include "joulecast/evaluate/leave_clocks_out.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/learn/folds.h"
#include "joulecast/learn/model.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// What the control loop of a power limit leaves of it.
constexpr double share_of_limit = 0.995;
constexpr double rule_share = 0.68;
constexpr std::size_t least_options = 3;
constexpr std::size_t least_listed = 2;  // workloads that levels are fitted to
/// Log errors of levels where too few workloads tell of them.
constexpr double level_sigma = 0.25;
constexpr std::size_t least_level_errors = 10;
/// Two measurements at one clock differ by so much (standard deviation of the logarithm).
constexpr double repeat_sigma = 0.01;

double limit_or_infinity(const SweptRow& row) {
    return row.asked.power_limit_w > 0 ? row.asked.power_limit_w : std::numeric_limits<double>::infinity();
}

double comparable_clock(double mhz) {
    return mhz > 0 ? mhz : std::numeric_limits<double>::infinity();  // not told: the default, which is the highest
}

/// Of the highest memory clock, limit and clock, in this order.
std::size_t reference_row(const ClockSweep& sweep) {
    const auto rank = [](const SweptRow& row) {
        return std::tuple(comparable_clock(row.asked.memory_clock_mhz), limit_or_infinity(row),
                          comparable_clock(row.asked.sm_clock_mhz));
    };
    return static_cast<std::size_t>(std::ranges::max_element(sweep.rows, {}, rank) - sweep.rows.begin());
}

bool is_limit_sweep(const ClockSweep& sweep) {
    return std::ranges::none_of(sweep.rows, [](const SweptRow& row) { return row.asked.sm_clock_mhz > 0; });
}

/// All that workloads of other models teach of the device.
struct Lesson {
    ClockParameters parameters;
    KernelLevels levels;
    PowerLevels power_levels;
    double sigma_level_time = level_sigma;
    double sigma_level_power = level_sigma;
    std::vector<KnownShare> shares;
    bool knows_levels = false;
    double level_x = 1;          ///< the clock that the levels were fitted at, in the middle
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
        listed.push_back({sweep->kernels, point_of(sweep->rows[reference_row(*sweep)], parameters)});
    }
    return listed;
}

/// Nine tenths of |log error| as a standard deviation; absent for few.
std::optional<double> sigma_of(const std::vector<double>& log_errors) {
    if (log_errors.size() < least_level_errors) return std::nullopt;
    return quantile(log_errors, 0.9) / normal_90;
}

void learn_levels(Lesson& lesson, std::span<const ClockSweep* const> others, const Device& device) {
    const auto listed = listed_workloads(others, lesson.parameters);
    lesson.power_levels = default_power_levels(device);
    lesson.knows_levels = listed.size() >= least_listed;
    if (!lesson.knows_levels) return;
    lesson.levels = fit_kernel_levels(lesson.levels, listed, device.units, lesson.parameters);
    lesson.power_levels = fit_power_levels(lesson.power_levels, listed, lesson.levels, device.units, lesson.parameters);
    std::vector<double> of_time;
    std::vector<double> of_power;
    std::vector<double> clocks;
    for (const ListedWorkload& workload : listed) {
        const ClockedPoint& at = workload.point;
        clocks.push_back(at.x);
        const double time = workload_s(workload.kernels, lesson.levels, device.units, lesson.parameters, at.x, at.y);
        of_time.push_back(std::abs(std::log(time / at.time_s)));
        const double watts = workload_w(workload.kernels, lesson.levels, lesson.power_levels, device.units,
                                        lesson.parameters, at.x, at.y);
        if (at.power_w > 0) of_power.push_back(std::abs(std::log(std::min(watts, device.tdp_w) / at.power_w)));
    }
    lesson.level_x = median(clocks);
    lesson.sigma_level_time = sigma_of(of_time).value_or(level_sigma);
    lesson.sigma_level_power = sigma_of(of_power).value_or(level_sigma);
}

void learn_clocks(Lesson& lesson, std::span<const ClockSweep* const> others, const Device& device) {
    std::vector<SweptWorkload> workloads;
    for (const ClockSweep* sweep : others) {
        SweptWorkload workload = swept_workload(*sweep, lesson.parameters, lesson.levels, device.units);
        if (workload.points.size() > 1) workloads.push_back(std::move(workload));
    }
    if (workloads.empty()) return;
    lesson.parameters = fit_clock_parameters(lesson.parameters, workloads);
    for (const SweptWorkload& workload : workloads)
        lesson.shares.push_back(
            {reference_point(workload.points).power_w, fitted_compute_share(lesson.parameters, workload.points)});
    std::vector<double> likely;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        std::vector<KnownShare> rest = lesson.shares;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        likely.push_back(likely_compute_share(lesson.shares[i].power_w, rest));
    }
    lesson.parameters.spread = spread_of(lesson.parameters, workloads, likely, lesson.parameters.spread);
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
        std::vector<ClockForecast> all;
        for (std::size_t i = 0; i < sweep_.rows.size(); ++i) {
            const SweptRow& row = sweep_.rows[i];
            const ClockParameters& parameters = curve.parameters();
            const double y = relative_memory_clock(row.asked.memory_clock_mhz, parameters);
            const double limit = std::isfinite(limit_or_infinity(row)) ? row.asked.power_limit_w : device_.tdp_w;
            const double x =
                curve.within_limit(relative_sm_clock(row.asked.sm_clock_mhz, parameters), share_of_limit * limit, y);
            const double seconds = curve.time_s(x, y);
            const double watts = curve.power_w(x, y);
            const double distance = clock_distance(x, y, curve.known());
            const ClockSpread& spread = parameters.spread;
            ClockForecast& one = all.emplace_back(named(model, i));
            one.sm_clock_mhz = x * parameters.highest_mhz;
            one.time = within<Seconds>(seconds, std::hypot(repeat_sigma, sigmas.time, distance * spread.time));
            one.power = within<Watts>(watts, std::hypot(repeat_sigma, sigmas.power, distance * spread.power));
            one.energy = within<Joules>(seconds * watts, std::hypot(repeat_sigma, std::hypot(sigmas.time, sigmas.power),
                                                                    distance * spread.energy));
        }
        return all;
    }

    std::vector<ClockForecast> by_forest(const Lesson& lesson) const {
        std::vector<ClockForecast> all;
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t i = 0; i < sweep_.rows.size(); ++i) {
            const auto row = forest_row(sweep_.rows[i], sweep_.rows[reference_]);
            const double seconds = predict(lesson.forests[0], row);
            const double watts = predict(lesson.forests[1], row);
            ClockForecast& one = all.emplace_back(named("thesis_forest", i));
            one.sm_clock_mhz = sweep_.rows[i].asked.sm_clock_mhz;
            one.time = {Seconds(seconds), Seconds(none), Seconds(none)};
            one.power = {Watts(watts), Watts(none), Watts(none)};
            one.energy = {Joules(seconds * watts), Joules(none), Joules(none)};
        }
        return all;
    }

  private:
    ClockForecast named(const std::string& model, std::size_t row) const {
        ClockForecast one;
        one.model = model;
        one.workload = sweep_.workload();
        one.device = device_.id;
        one.network = sweep_.network;
        one.row = sweep_.rows[row];
        one.is_reference = row == reference_;
        return one;
    }

    const Device& device_;
    const ClockSweep& sweep_;
    std::size_t reference_;
};

/// The curve from the reference row, by the device's parameters.
WorkloadCurve curve_from_reference(const ClockSweep& sweep, const ClockParameters& parameters,
                                   const KernelLevels& levels, int units, double compute_share) {
    const ClockedPoint known = point_of(sweep.rows[reference_row(sweep)], parameters);
    if (sweep.kernels.empty()) return {parameters, {of_compute_share(compute_share)}, 0, known};
    return {parameters, kernel_times(sweep.kernels, levels, units), issuing_s(sweep.kernels, levels), known};
}

std::vector<std::vector<ClockForecast>> forecasts_of(const ClockSweep& sweep, const Lesson& lesson,
                                                     const ClockParameters& defaults, const Device& device) {
    const Forecaster forecaster(device, sweep);
    std::vector<std::vector<ClockForecast>> all;
    if (sweep.rows.size() > 1) {
        const double share = likely_compute_share(sweep.rows[forecaster.reference()].power_w, lesson.shares);
        all.push_back(forecaster.by_curve(
            "joulecast", curve_from_reference(sweep, lesson.parameters, lesson.levels, device.units, share), {}));
        all.push_back(forecaster.by_curve(
            "joulecast_defaults", curve_from_reference(sweep, defaults, KernelLevels{}, device.units, 0.5), {}));
    }
    if (!sweep.kernels.empty() && lesson.knows_levels) {
        const ClockParameters& parameters = lesson.parameters;
        const double x = lesson.level_x;
        const ClockedPoint fitted{
            x, 1, workload_s(sweep.kernels, lesson.levels, device.units, parameters, x),
            workload_w(sweep.kernels, lesson.levels, lesson.power_levels, device.units, parameters, x)};
        const WorkloadCurve curve(parameters, kernel_times(sweep.kernels, lesson.levels, device.units),
                                  issuing_s(sweep.kernels, lesson.levels), fitted);
        auto rows =
            forecaster.by_curve("joulecast_operations", curve, {lesson.sigma_level_time, lesson.sigma_level_power});
        for (ClockForecast& one : rows) one.is_reference = false;
        all.push_back(std::move(rows));
    }
    if (sweep.rows.size() > 1 && !lesson.forests.empty()) all.push_back(forecaster.by_forest(lesson));
    return all;
}

/// The rows of a sweep that may be chosen: at the memory clock of the reference, with a known energy.
std::vector<std::size_t> choosable_rows(const ClockSweep& sweep) {
    const SweptRow& reference = sweep.rows[reference_row(sweep)];
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
        const SweptRow& row = sweep.rows[i];
        if (comparable_clock(row.asked.memory_clock_mhz) == comparable_clock(reference.asked.memory_clock_mhz) &&
            row.power_w > 0)
            rows.push_back(i);
    }
    if (rows.size() < least_options) rows.clear();
    return rows;
}

double clock_share_of(const ClockSweep& sweep, const SweptRow& row) {
    const SweptRow& reference = sweep.rows[reference_row(sweep)];
    return is_limit_sweep(sweep) ? row.asked.power_limit_w / reference.asked.power_limit_w
                                 : row.asked.sm_clock_mhz / reference.asked.sm_clock_mhz;
}

std::vector<ClockOption> measured_options(const ClockSweep& sweep) {
    std::vector<ClockOption> options;
    for (const std::size_t i : choosable_rows(sweep)) {
        const SweptRow& row = sweep.rows[i];
        options.push_back({clock_share_of(sweep, row), row.time_s, row.time_s * row.power_w});
    }
    return options;
}

/// The lowest clock that a model of the voltage chooses, as a share of the reference's.
double floor_share(const ClockSweep& sweep, const ClockParameters& parameters) {
    if (is_limit_sweep(sweep)) return 0;
    const double slack = 0.5 * parameters.step_mhz;
    return (lowest_chosen_mhz(parameters) - slack) / sweep.rows[reference_row(sweep)].asked.sm_clock_mhz;
}

void choose_by_forecasts(const ClockSweep& sweep, const std::vector<ClockForecast>& forecasts, double floor,
                         std::vector<ClockChoice>& choices) {
    const auto measured = measured_options(sweep);
    if (measured.empty()) return;
    std::vector<ClockOption> forecast = measured;
    const auto rows = choosable_rows(sweep);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        forecast[i].time_s = forecasts[rows[i]].time.value.value();
        forecast[i].energy_j = forecasts[rows[i]].energy.value.value();
    }
    for (const ClockObjective objective : all_clock_objectives()) {
        const std::size_t chosen = best_option(forecast, objective, floor);
        choices.push_back({forecasts.front().model, objective, sweep.workload(), regret_of(measured, chosen, objective),
                           is_over_limit(measured, chosen, objective)});
    }
}

void choose_by_rules(const ClockSweep& sweep, std::span<const ClockSweep* const> others,
                     std::vector<ClockChoice>& choices) {
    const auto measured = measured_options(sweep);
    if (measured.empty()) return;
    std::vector<std::vector<ClockOption>> known;
    for (const ClockSweep* other : others) {
        if (is_limit_sweep(*other) != is_limit_sweep(sweep)) continue;
        auto options = measured_options(*other);
        if (!options.empty()) known.push_back(std::move(options));
    }
    for (const ClockObjective objective : all_clock_objectives()) {
        const auto choose = [&](const std::string& rule, double share) {
            const std::size_t chosen = nearest_option(measured, share);
            choices.push_back({rule, objective, sweep.workload(), regret_of(measured, chosen, objective),
                               is_over_limit(measured, chosen, objective)});
        };
        choose("maximum clock", 1);
        if (!known.empty()) choose("best constant clock", best_constant_share(known, objective));
        choose("68 % of maximum", rule_share);
    }
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
    if (!missing.empty()) throw Error("nothing can be told of " + device.id + " over its clocks: no " + missing + ".");
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
        lesson.parameters = defaults;
        learn_levels(lesson, others, device);
        learn_clocks(lesson, others, device);
        grow_forests(lesson, others, settings);
        for (std::size_t i = 0; i < sweeps.size(); ++i) {
            if (fold_of[i] != fold) continue;
            for (auto& forecasts : forecasts_of(sweeps[i], lesson, defaults, device)) {
                const bool has_floor = forecasts.front().model != "thesis_forest";
                choose_by_forecasts(sweeps[i], forecasts, has_floor ? floor_share(sweeps[i], lesson.parameters) : 0,
                                    choices);
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
