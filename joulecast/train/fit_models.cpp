#include "joulecast/train/fit_models.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/graph/family.h"
#include "joulecast/learn/conformal.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/model/law_of_any.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Fewer rows than this do not settle a law's three numbers.
constexpr std::size_t least_rows_of_law = 5;
/// Fewer rows than this are no family model; its operations keep law and roofline.
constexpr std::size_t least_rows_of_model = 8;
constexpr std::size_t least_rows_to_boost = 200;
/// Held-out scores below this number say little of a 90 % quantile; the interval is then widened to this score.
constexpr std::size_t least_scores = 20;
constexpr double cautious_score = 10;

/// One call at several clocks settles no law.
std::size_t least_rows_of_law_of(const DeviceModel& frame) {
    return frame.over_clocks ? least_rows_of_law * frame.over_clocks->trained.size() : least_rows_of_law;
}

/// Floor of the law of everything; where there are several modes and types, of the quickest.
double smallest_floor_of_any(const std::map<std::string, std::vector<LawSample>>& samples) {
    double smallest = std::numeric_limits<double>::infinity();
    for (const auto& [key, of_key] : samples) {
        if (key == law_key_of_any(key)) smallest = std::min(smallest, fit_law(of_key).floor_s);
    }
    return std::isfinite(smallest) ? smallest : 0;
}

/// What a call of a family without rows costs at least is what the cheapest call of its mode and type does: families
/// that nobody measured (copies, sums) are those that do little, and the law of everything has the floor of a
/// convolution.
void lower_floors_of_any(std::vector<TrainedLaw>& laws) {
    for (TrainedLaw& of_any : laws) {
        if (of_any.key != law_key_of_any(of_any.key)) continue;
        const std::string_view mode_and_type = std::string_view(of_any.key).substr(of_any.key.find('|'));
        for (const TrainedLaw& law : laws) {
            if (law.key.ends_with(mode_and_type)) of_any.law.floor_s = std::min(of_any.law.floor_s, law.law.floor_s);
        }
    }
}

/// Samples by the keys of their laws.
using SamplesByKey = std::map<std::string, std::vector<LawSample>>;

double arithmetic_s(const Law& law, const Roofline& roofline) {
    return work_seconds(Law{0, law.flop_factor, 0, law.tiles}, roofline);
}

/// Whether at least three of the measured calls took as long as their arithmetic: else nothing is known of its factor.
bool tells_arithmetic(const Law& law, std::span<const LawSample> samples) {
    constexpr std::ptrdiff_t enough = 3;
    return std::ranges::count_if(samples, [&law](const LawSample& sample) {
               const double arithmetic = arithmetic_s(law, sample.roofline);
               return arithmetic > std::max(law.floor_s, law.byte_factor * sample.roofline.byte_s);
           }) >= enough;
}

/// The largest factor by which no measured call would take longer than it did.
double largest_flop_factor(const Law& law, std::span<const LawSample> samples) {
    double largest = std::numeric_limits<double>::infinity();
    for (const LawSample& sample : samples) {
        const double arithmetic = arithmetic_s(law, sample.roofline);
        if (arithmetic > 0) largest = std::min(largest, law.flop_factor * sample.time_s / arithmetic);
    }
    return largest;
}

/// Products whose arithmetic no measured call tells of (linear layers behind convolutional networks have one row, whose
/// weights are what takes time) take as much longer than the data sheet says as the device's other products of that
/// mode and type do, in the median: 1 to 3 times with a BLAS, 60 times with TVM's untuned code.
void tell_arithmetic_by_others(std::vector<TrainedLaw>& laws, const SamplesByKey& samples,
                               const std::set<std::string>& products) {
    std::map<std::string, std::vector<double>> known;  // by mode and type
    std::vector<TrainedLaw*> untold;
    for (TrainedLaw& law : laws) {
        if (!products.contains(law.key) || is_depthwise_law_key(law.key)) continue;
        if (!tells_arithmetic(law.law, samples.at(law.key))) {
            untold.push_back(&law);
        } else if (!is_family_law_key(law.key)) {
            known[law.key.substr(law.key.find('|'))].push_back(law.law.flop_factor);
        }
    }
    for (TrainedLaw* law : untold) {
        const auto others = known.find(law->key.substr(law->key.find('|')));
        if (others == known.end()) continue;
        const double largest = largest_flop_factor(law->law, samples.at(law->key));
        law->law.flop_factor = std::max(law->law.flop_factor, std::min(median(others->second), largest));
    }
}

std::vector<TrainedLaw> fit_laws(std::span<const TrainingRow* const> rows, std::size_t least_rows, bool tiled) {
    SamplesByKey samples;
    std::set<std::string> products;
    std::map<std::string, std::vector<double>> issuing;
    for (const TrainingRow* row : rows) {
        const LawSample sample{row->operation.roofline, row->time_s};
        const std::string of_family = family_law_key(row->operation.operation);
        for (const std::string& key : {law_key(row->operation.operation), of_family, law_key_of_any(of_family)}) {
            samples[key].push_back(sample);
            if (multiplies_matrices(row->operation.family()) && key != law_key_of_any(key)) products.insert(key);
            if (row->issue_s > 0) issuing[key].push_back(row->issue_s);
        }
    }
    const double usual_floor_s = tiled ? smallest_floor_of_any(samples) : 0;
    std::vector<TrainedLaw> laws;
    for (const auto& [key, of_key] : samples) {
        // A family's law is the last resort before the bare roofline: any measurement is better than none.
        const bool of_family = is_family_law_key(key);
        if (of_key.size() < least_rows && !of_family) continue;
        laws.push_back({key, tiled ? fit_tiled_law(of_key, usual_floor_s) : fit_law(of_key),
                        static_cast<std::int64_t>(of_key.size())});
        if (const auto found = issuing.find(key); found != issuing.end()) laws.back().issue_s = median(found->second);
    }
    lower_floors_of_any(laws);
    tell_arithmetic_by_others(laws, samples, products);
    return laws;
}

/// Of what the host takes for a call: the floor where nobody measured it apart.
double smallest_floor(const std::vector<TrainedLaw>& laws) {
    double smallest = std::numeric_limits<double>::infinity();
    for (const TrainedLaw& law : laws) smallest = std::min(smallest, law.issue_s.value_or(law.law.floor_s));
    return std::isfinite(smallest) ? smallest : 0;
}

double log_metric(const TrainingRow& row, Metric metric) {
    if (metric == Metric::time) return std::log(row.time_s);
    if (metric == Metric::power) return std::log(row.power_w);
    return std::log(row.peak_memory_bytes + memory_offset_bytes);
}

bool knows_dynamic_power(const DeviceModel& device) {
    return device.over_clocks && device.over_clocks->dynamic != DynamicPower{};
}

double log_dynamic_power(const DeviceModel& device, const TrainingRow& row) {
    const double idle = static_w(*device.clocks, row.operation.clocks.x, row.operation.clocks.y);
    return std::log(std::max(row.power_w - idle, least_dynamic_share * idle));
}

std::vector<Base> bases(const DeviceModel& device, Metric metric) {
    switch (metric) {
        case Metric::time:
            return {Base::law, Base::roofline};
        case Metric::power:
            return {knows_dynamic_power(device) ? Base::dynamic_watt : Base::watt};
        case Metric::peak_memory:
            break;
    }
    return {Base::planned_bytes};
}

bool has_metric(const TrainingRow& row, Metric metric) {
    if (metric == Metric::power) return std::isfinite(row.power_w) && row.power_w > 0;
    return metric == Metric::time || (std::isfinite(row.peak_memory_bytes) && row.peak_memory_bytes >= 0);
}

/// Numbers in place of the rows' groups.
std::vector<std::size_t> numbered_groups(std::span<const TrainingRow* const> rows) {
    std::map<std::string_view, std::size_t> numbers;
    std::vector<std::size_t> groups;
    for (const TrainingRow* row : rows) groups.push_back(numbers.try_emplace(row->group, numbers.size()).first->second);
    return groups;
}

LearnerSettings settings_of(Learner learner, Metric metric, std::span<const TrainingRow* const> rows,
                            const TrainSettings& training) {
    // Memory is nearly exact from the shapes: a quarter of the trees keeps the file small.
    const std::size_t part = metric == Metric::peak_memory ? 4 : 1;
    LearnerSettings chosen = learner_settings(learner, std::max<std::size_t>(1, training.trees / part), training.seed);
    chosen.boost.rounds /= part;
    chosen.threads = training.threads;
    chosen.groups = numbered_groups(rows);
    return chosen;
}

/// The model with its bounds.
ModelPart fit_part(const Samples& samples, const std::vector<double>& residuals, Learner learner,
                   const LearnerSettings& settings) {
    ModelPart part;
    part.model = fit_model(learner, samples, residuals, settings);
    const auto [low, high] = std::minmax_element(residuals.begin(), residuals.end());
    const double slack = (*high - *low) / 2;
    part.low = *low - slack;
    part.high = *high + slack;
    return part;
}

FamilyModel fit_family(const DeviceModel& device, std::span<const TrainingRow* const> rows, Family family,
                       Metric metric, const ModelChoice& choice, const TrainSettings& training) {
    FamilyModel model;
    model.family = family;
    model.metric = metric;
    model.learner = choice.learner;
    model.reading = choice.reading;
    model.rows = static_cast<std::int64_t>(rows.size());
    std::set<std::string> targets;
    for (const TrainingRow* row : rows) targets.insert(row->operation.operation.target);
    model.targets.assign(targets.begin(), targets.end());
    const auto columns = all_columns();
    Samples samples(rows.size(), columns.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        samples.set_row(i, feature_row(device, model, columns, rows[i]->operation));
    }
    model.ranges = ranges_of(samples);
    const LearnerSettings settings = settings_of(choice.learner, metric, rows, training);
    for (const Base base : bases(device, metric)) {
        std::vector<double> residuals;
        for (const TrainingRow* row : rows) {
            const double log = base == Base::dynamic_watt ? log_dynamic_power(device, *row) : log_metric(*row, metric);
            residuals.push_back(log - log_base(base, device, row->operation).value());
        }
        model.parts.push_back(fit_part(samples, residuals, choice.learner, settings));
        model.parts.back().base = base;
    }
    return model;
}

/// Boosting costs ten times as much as a forest of the same rows; where rows are few, or memory follows from the
/// shapes, a choice among learners does without it.
bool is_worth_it(Learner learner, Metric metric, std::size_t rows, const TrainSettings& training) {
    if (training.learner || learner != Learner::xgboost) return true;
    return metric != Metric::peak_memory && rows >= least_rows_to_boost;
}

using Choose = std::function<ModelChoice(Family, Metric)>;

/// A model that is to be fitted.
struct Wanted {
    Family family;
    Metric metric;
    ModelChoice choice;
    std::vector<const TrainingRow*> rows;
};

/// What there are enough rows for, the most rows first: then threads end at about the same time.
std::vector<Wanted> wanted_models(std::span<const TrainingRow* const> rows, const Choose& choose,
                                  const TrainSettings& training) {
    std::map<std::pair<Family, Metric>, std::vector<const TrainingRow*>> parts;
    for (const TrainingRow* row : rows) {
        for (const Metric metric : all_metrics) {
            if (has_metric(*row, metric)) parts[{row->operation.family(), metric}].push_back(row);
        }
    }
    std::vector<Wanted> wanted;
    for (auto& [part, of_part] : parts) {
        if (of_part.size() < least_rows_of_model) continue;
        const auto [family, metric] = part;
        const ModelChoice choice = choose(family, metric);
        if (!is_worth_it(choice.learner, metric, of_part.size(), training)) continue;
        wanted.push_back({family, metric, choice, std::move(of_part)});
    }
    std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
        if (a.rows.size() != b.rows.size()) return a.rows.size() > b.rows.size();
        return std::pair(a.family, a.metric) < std::pair(b.family, b.metric);
    });
    return wanted;
}

DeviceModel fit(const DeviceModel& frame, std::span<const TrainingRow* const> rows, const Choose& choose,
                const TrainSettings& training) {
    DeviceModel device = frame.laws.empty() ? fit_laws_alone(frame, rows) : frame;
    const auto wanted = wanted_models(rows, choose, training);
    TrainSettings of_each = training;
    const std::size_t threads = thread_count(training.threads);
    const std::size_t at_once = std::clamp<std::size_t>(wanted.size(), 1, threads);
    of_each.threads = static_cast<unsigned>(threads / at_once);
    device.models.resize(wanted.size());
    in_parallel(wanted.size(), training.threads, [&](std::size_t i) {
        const Wanted& w = wanted[i];
        device.models[i] = fit_family(device, w.rows, w.family, w.metric, w.choice, of_each);
    });
    std::sort(device.models.begin(), device.models.end(), [](const FamilyModel& a, const FamilyModel& b) {
        return std::pair(a.family, a.metric) < std::pair(b.family, b.metric);
    });
    return device;
}

}  // namespace

std::vector<TrainedRange> ranges_of(const Samples& samples) {
    std::vector<TrainedRange> ranges;
    for (std::size_t column = 0; column < samples.columns(); ++column) {
        TrainedRange range{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
        for (const float value : samples.column(column)) {
            if (!std::isfinite(value)) continue;
            range.low = std::min(range.low, value);
            range.high = std::max(range.high, value);
        }
        ranges.push_back(range);
    }
    return ranges;
}

std::vector<Learner> candidates(const TrainSettings& settings) {
    if (settings.learner) return {*settings.learner};
    return {Learner::extra_trees, Learner::random_forest, Learner::xgboost};
}

std::vector<SampledPart> sampled_parts(std::span<const TrainingRow> rows, std::span<const Learner> learners) {
    std::map<std::pair<Family, Metric>, std::size_t> counts;
    for (const TrainingRow& row : rows) {
        for (const Metric metric : all_metrics) {
            if (has_metric(row, metric)) ++counts[{row.operation.family(), metric}];
        }
    }
    std::vector<SampledPart> sampled;
    for (const Learner learner : learners) {
        for (const auto& [part, count] : counts) {
            const std::size_t learned = learned_rows(learner, count, {});
            if (learned < count) sampled.push_back({learner, part.first, part.second, count, learned});
        }
    }
    return sampled;
}

DeviceModel fit_models(const DeviceModel& frame, std::span<const TrainingRow* const> rows, Learner learner,
                       const TrainSettings& settings) {
    const auto choose = [&](Family, Metric metric) { return ModelChoice{learner, readings(metric, learner).front()}; };
    return fit(frame, rows, choose, settings);
}

DeviceModel fit_chosen_models(const DeviceModel& frame, std::span<const TrainingRow* const> rows,
                              const CandidateScores& scores, const TrainSettings& settings) {
    const Learner usual = candidates(settings).front();
    const auto choose = [&](Family family, Metric metric) {
        const auto found = scores.find({family, metric});
        return found == scores.end() ? ModelChoice{usual, readings(metric, usual).front()}
                                     : best_candidate(found->second).choice;
    };
    DeviceModel device = fit(frame, rows, choose, settings);
    for (FamilyModel& model : device.models) {
        const auto found = scores.find({model.family, model.metric});
        if (found == scores.end()) {
            model.score_90 = cautious_score;
            continue;
        }
        const auto& held_out = best_candidate(found->second).score;
        model.score_90 = conformal_quantile(held_out, 0.9);
        if (held_out.size() < least_scores) model.score_90 = std::max(model.score_90, cautious_score);
    }
    return device;
}

DeviceModel fit_laws_alone(const DeviceModel& frame, std::span<const TrainingRow* const> rows) {
    DeviceModel device = frame;
    const bool tiled = frame.device.kind == Device::Kind::gpu;
    device.laws = fit_laws(rows, least_rows_of_law_of(frame), tiled);
    device.call_overhead_s = smallest_floor(device.laws);
    return device;
}

std::optional<FamilyModel> fit_family_model(const DeviceModel& with_laws, std::span<const TrainingRow* const> rows,
                                            Metric metric, Learner learner, const TrainSettings& settings) {
    if (rows.size() < least_rows_of_model) return std::nullopt;
    const ModelChoice choice{learner, readings(metric, learner).front()};
    return fit_family(with_laws, rows, rows.front()->operation.family(), metric, choice, settings);
}

std::optional<double> learned_log(const TrainingRow& row, Metric metric) {
    if (!has_metric(row, metric)) return std::nullopt;
    return log_metric(row, metric);
}

}  // namespace joulecast
