#include "joulecast/train/train.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "joulecast/error.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/learn/folds.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/physics/memory.h"
#include "joulecast/train/calibrate_networks.h"
#include "joulecast/train/calibrate_ratios.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/train/fit_over_clocks.h"
#include "joulecast/train/keep_operations.h"
#include "joulecast/train/learn_fusion.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// An operation at float32 without gradients, out of place, and without what changes no size: fractions (eps, momentum,
/// probabilities) and the state of batch norm and dropout.
Operation plain(Operation operation) {
    if (is_in_place(operation)) operation.target = sibling_target(operation.target);
    std::erase_if(operation.arguments, [](const Argument& argument) {
        return std::holds_alternative<double>(argument.value) || argument.name == "training" ||
               argument.name == "train";
    });
    for (TensorType* tensor : tensors(operation)) {
        tensor->requires_grad = false;
        if (is_floating(tensor->dtype)) tensor->dtype = Dtype::f32;
    }
    return operation;
}

using Setting = std::tuple<int, Math, Host, std::string>;
Setting setting_of(const OperatingPoint& point) {
    return {point.threads, point.math, point.host, point.engine};
}

/// A call that takes this many floors keeps the device busy: its launch is hidden behind its work.
constexpr double times_of_floor_when_busy = 3;
/// Where no idle power is known: calls that only launch draw a little more than an idle device.
constexpr double share_of_least_power = 0.95;

/// Over clocks a busy device is one at its highest: rows at this share of it and above.
constexpr double near_highest = 0.85;

double known_or(double value, double otherwise) {
    return value > 0 ? value : otherwise;
}

void set_clocks(TrainingRow& row, const Measurement& m) {
    row.sm_clock_mhz = known_or(m.real.sm_clock_mhz, m.asked.sm_clock_mhz);
    row.memory_clock_mhz = known_or(m.real.memory_clock_mhz, m.asked.memory_clock_mhz);
    row.asked_sm_clock_mhz = m.asked.sm_clock_mhz;
    row.asked_memory_clock_mhz = m.asked.memory_clock_mhz;
    row.asked_power_limit_w = m.asked.power_limit_w;
    if (m.issue) row.issue_s = m.issue->issue_s;
}

struct HeldOutRows {
    CandidateScores scores;
    std::vector<HeldOutByChoice> times;
};

struct Fold {
    DeviceModel frame;  ///< with the laws of the rows inside
    std::vector<const TrainingRow*> inside;
    std::vector<std::size_t> outside;
};

/// Those that have rows on both sides.
std::vector<Fold> grouped_folds(const DeviceModel& frame, std::span<const TrainingRow> rows,
                                const TrainSettings& settings) {
    const auto fold_of = group_folds(rows, settings.folds, settings.seed);
    std::vector<Fold> folds(settings.folds, Fold{frame, {}, {}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t fold = 0; fold < settings.folds; ++fold) {
            if (fold_of[i] == fold) {
                folds[fold].outside.push_back(i);
            } else {
                folds[fold].inside.push_back(&rows[i]);
            }
        }
    }
    std::erase_if(folds, [](const Fold& fold) { return fold.inside.empty() || fold.outside.empty(); });
    in_parallel(folds.size(), settings.threads,
                [&](std::size_t i) { folds[i].frame = fit_laws_alone(frame, folds[i].inside); });
    return folds;
}

/// Every candidate on every row, over grouped folds: for the choice between them and for intervals.
HeldOutRows hold_out(const DeviceModel& frame, std::span<const TrainingRow> rows, const TrainSettings& settings) {
    const auto folds = grouped_folds(frame, rows, settings);
    const auto learners = candidates(settings);
    // One learner without one fold is the work of one thread: what all of them need is about the same.
    std::vector<HeldOutScores> trials(folds.size() * learners.size());
    TrainSettings alone = settings;
    if (trials.size() > 1) alone.threads = 1;
    in_parallel(trials.size(), settings.threads, [&](std::size_t i) {
        // The last learner is the slowest: begun last it would leave the other threads without work at the end.
        const std::size_t trial = trials.size() - 1 - i;
        const Fold& fold = folds[trial / learners.size()];
        const Learner learner = learners[trial % learners.size()];
        trials[trial] = score_rows(fit_models(fold.frame, fold.inside, learner, alone), rows, fold.outside, learner);
    });
    HeldOutRows held_out;
    held_out.times.resize(rows.size());
    for (std::size_t trial = 0; trial < trials.size(); ++trial) {
        const Fold& fold = folds[trial / learners.size()];
        append(held_out.scores, trials[trial]);
        for (std::size_t place = 0; place < fold.outside.size(); ++place)
            held_out.times[fold.outside[place]].merge(trials[trial].times[place]);
    }
    return held_out;
}

/// The held-out times by the choice that each family ended with, their intervals by its calibration.
std::vector<HeldOutTime> times_of_chosen(const DeviceModel& trained, std::span<const TrainingRow> rows,
                                         const HeldOutRows& held_out) {
    std::vector<HeldOutTime> times(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const Metric metric : {Metric::time, Metric::power}) {
            const FamilyModel* model = find_model(trained, rows[i].operation.family(), metric);
            if (!model) continue;
            const auto found = held_out.times[i].find({model->learner, model->reading});
            if (found == held_out.times[i].end()) continue;
            if (metric == Metric::time) {
                times[i].log_value = found->second.log_value;
                times[i].half_width = found->second.half_width * model->score_90;
            } else {
                times[i].log_watts = found->second.log_watts;
                times[i].watts_half_width = found->second.watts_half_width * model->score_90;
            }
        }
    }
    return times;
}

/// Idle power as metered beside the rows, else the data sheet's, but never above what an operation drew.
PowerFacts power_facts(const DeviceModel& device, std::span<const TrainingRow* const> rows) {
    PowerFacts facts;
    std::vector<double> whole, idle, busy;
    for (const TrainingRow* row : rows) {
        if (device.over_clocks && row->operation.clocks.x < near_highest * place_of(device, device.point).x) continue;
        if (row->idle_power_w > 0) idle.push_back(row->idle_power_w);
        if (!(row->power_w > 0)) continue;
        whole.push_back(row->power_w);
        const Law* law = find_law(device, row->operation.operation);
        if (law && row->time_s > times_of_floor_when_busy * law->floor_s) busy.push_back(row->power_w);
    }
    if (whole.empty()) return facts;
    const double least = quantile(whole, 0.01);
    if (device.over_clocks) {
        const ClockPlace highest = place_of(device, device.point);
        facts.idle_w = static_w(*device.clocks, highest.x, highest.y);
    } else {
        facts.idle_w = idle.empty() ? device.device.idle_w : median(idle);
        if (!(facts.idle_w > 0)) facts.idle_w = share_of_least_power * least;
        facts.idle_w = std::min(facts.idle_w, least);
    }
    facts.busy_w = busy.empty() ? quantile(whole, 0.9) : median(busy);
    facts.cap_w = limit_or_tdp_w(device.point.power_limit_w, device.device);
    return facts;
}

/// Of published tables that the importers know (docs/data.md).
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> licences{
    {{"own", "own measurements, Apache-2.0"},
     {"neusight", "MIT"},
     {"vidur", "MIT"},
     {"aiconfigurator", "Apache-2.0"},
     {"energaizer", "MIT"},
     {"llmservingsim", "MIT"}}};

/// "own measurements, Apache-2.0", or "neusight: MIT; nicolai: that of its source".
std::string licence_of(const std::set<std::string>& sources) {
    std::string text;
    for (const std::string& source : sources) {
        const auto known = std::find_if(licences.begin(), licences.end(),
                                        [&](const auto& licence) { return licence.first == source; });
        const std::string licence = known == licences.end() ? "that of its source" : std::string(known->second);
        if (source == "own" && sources.size() == 1) return licence;
        text += (text.empty() ? "" : "; ") + source + ": " + licence;
    }
    return text;
}

/// That of the row in the middle by its clock: one that a power limit slowed, or a single glance, tells of itself
/// alone.
OperatingPoint usual_point(std::vector<const OperatingPoint*> points) {
    const auto clock = [](const OperatingPoint* point) {
        return point->sm_clock_mhz > 0 ? point->sm_clock_mhz : 0;  // unknown ones together
    };
    std::ranges::stable_sort(points, {}, clock);
    return *points[points.size() / 2];
}

}  // namespace

Estimate<Seconds> as_timed(const TrainingRow& row, const OperationForecast& forecast) {
    const Estimate<Seconds>& call = forecast.cost.device_time;
    const double share = is_of_device(row) ? forecast.kernel_s / call.value.value() : 1;
    return share > 0 ? Estimate<Seconds>{call.value * share, call.low * share, call.high * share} : call;
}

double measured_value(const TrainingRow& row, Metric metric) {
    if (metric == Metric::peak_memory) return row.peak_memory_bytes;
    return metric == Metric::time ? row.time_s : row.power_w;
}

std::string operation_group(const Operation& operation) {
    return signature(plain(operation));
}

std::set<std::string> operation_groups(const Graph& graph) {
    std::set<std::string> groups;
    for (const CountedOperation& counted : count_operations(graph)) groups.insert(operation_group(counted.operation));
    return groups;
}

std::vector<std::size_t> group_folds(std::span<const TrainingRow> rows, std::size_t folds, std::uint64_t seed) {
    std::vector<std::string> groups;
    for (const TrainingRow& row : rows) groups.push_back(row.group);
    return group_folds(groups, folds, seed);
}

bool same_setting(const OperatingPoint& a, const OperatingPoint& b) {
    return setting_of(a) == setting_of(b);
}

std::vector<OperatingPoint> settings_of(std::span<const OperationRow> rows) {
    std::map<Setting, std::vector<const OperatingPoint*>> seen;
    for (const OperationRow& row : rows) {
        if (is_usable(row.measurement)) seen[setting_of(row.measurement.real)].push_back(&row.measurement.real);
    }
    std::vector<std::vector<const OperatingPoint*>> counted;
    for (auto& [setting, found] : seen) counted.push_back(std::move(found));
    std::ranges::stable_sort(counted, std::greater{}, [](const auto& points) { return points.size(); });
    std::vector<OperatingPoint> settings;
    for (auto& points : counted) settings.push_back(usual_point(std::move(points)));
    return settings;
}

std::vector<TrainingRow> training_rows_at(std::span<const OperationRow> rows, const Device& device,
                                          const OperatingPoint& setting) {
    std::vector<TrainingRow> usable;
    const auto is_taken = [&setting](const Measurement& m) { return is_usable(m) && same_setting(m.real, setting); };
    // Energy that its meter or its table has doubts about counts where there is no other.
    const bool has_trusted = std::any_of(rows.begin(), rows.end(), [&is_taken](const OperationRow& row) {
        return row.measurement.energy && !row.measurement.energy->suspect && is_taken(row.measurement);
    });
    for (const OperationRow& row : rows) {
        const Measurement& m = row.measurement;
        if (!is_taken(m)) continue;
        TrainingRow ready{prepare(m.operation, device, setting.math), operation_group(m.operation), 0,
                          m.peak_memory_bytes};
        const InNetwork within = in_network(m, ready.operation.dimensions, device.last_level_cache_bytes);
        ready.time_s = within.seconds;
        if (within.kept_share > 0) {
            ready.metered_s = measured_seconds(m);
            ready.kept_share = within.kept_share;
        }
        ready.time_half_width_s = m.time.half_width_s;
        if (m.energy && !(m.energy->suspect && has_trusted)) {
            ready.power_w = measured_watts(m);
            ready.power_half_width_w = ready.power_w * m.energy->half_width_j / m.energy->energy_j;
        }
        if (m.energy) ready.idle_power_w = m.energy->idle_power_w;
        set_clocks(ready, m);
        ready.host = m.real.host;
        usable.push_back(std::move(ready));
    }
    return usable;
}

std::vector<TrainingRow> training_rows(std::span<const OperationRow> rows, const Device& device,
                                       OperatingPoint& setting) {
    const auto settings = settings_of(rows);
    if (settings.empty()) throw Error("the database has no usable operation measured on " + device.id + ".");
    setting = settings.front();
    return training_rows_at(rows, device, setting);
}

std::vector<const Feature*> all_columns() {
    std::vector<const Feature*> columns;
    for (const Feature& feature : features()) columns.push_back(&feature);
    return columns;
}

Predictor empty_predictor() {
    Predictor predictor;
    for (const Feature& feature : features()) predictor.features.emplace_back(feature.name);
    return predictor;
}

DeviceModel train_device(const Device& device, const OperatingPoint& setting,
                         std::span<const TrainingRow> measured_rows, std::span<const TrainingNetwork> measured_networks,
                         const TrainSettings& settings) {
    if (measured_rows.empty()) throw Error("cannot train for " + device.id + ": no measured operations");
    if (const auto kept = keep_operations(device, setting, measured_rows, settings))
        return model_of(*kept, *settings.others);
    const DeviceModel frame = frame_over_clocks(frame_of(device, setting), measured_rows, measured_networks);
    const std::vector<TrainingRow> placed = at_own_clocks(frame, measured_rows);
    const std::span<const TrainingRow> rows = placed;
    const std::vector<TrainingNetwork> networks = at_learnt_clocks(frame, measured_networks);
    const HeldOutRows held_out = hold_out(frame, rows, settings);
    std::vector<const TrainingRow*> usable;
    for (const TrainingRow& row : rows) usable.push_back(&row);
    DeviceModel trained = fit_chosen_models(frame, usable, held_out.scores, settings);
    trained.power = power_facts(trained, usable);
    const std::vector<HeldOutTime> times = times_of_chosen(trained, rows, held_out);
    calibrate_networks(trained, rows, times, networks, settings.drifted);
    learn_fusions(trained, rows, times, networks);
    calibrate_ratios(trained, rows, times, networks);
    return trained;
}

Origin origin_of(std::span<const OperationRow> rows, const std::string& program, const std::string& created) {
    Origin origin;
    origin.program = program;
    origin.created = created;
    std::set<std::string> sources, frameworks, workers, machines;
    for (const OperationRow& row : rows) {
        const Provenance& from = row.provenance;
        sources.insert(from.source.empty() ? Provenance().source : from.source);  // workers of before did not say
        frameworks.insert(from.framework);
        workers.insert(from.worker);
        machines.insert(from.machine);
        if (from.started.empty()) continue;
        if (origin.measured_from.empty() || from.started < origin.measured_from) origin.measured_from = from.started;
        origin.measured_to = std::max(origin.measured_to, from.started);
    }
    origin.sources.assign(sources.begin(), sources.end());
    origin.frameworks.assign(frameworks.begin(), frameworks.end());
    origin.workers.assign(workers.begin(), workers.end());
    origin.machines.assign(machines.begin(), machines.end());
    origin.licence = licence_of(sources);
    origin.rows = static_cast<std::int64_t>(rows.size());
    return origin;
}

}  // namespace joulecast
