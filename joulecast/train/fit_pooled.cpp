#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/told_kernel.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/physics/matrix_rate.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/train/pooled_samples.h"
#include "joulecast/train/residual_prior.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr std::size_t most_rows_left_out = 150;  ///< of a kind of call, to see how far a model is off
constexpr std::size_t least_rows_of_effect = 5;
constexpr std::size_t least_rows_of_expert = 30;
constexpr double large_roofline_s = 10e-6;

using Sample = PooledSample;
using SamplesOfDevice = std::map<std::string, std::vector<const Sample*>>;

using Targets = std::map<Family, std::set<std::string>>;

Targets targets_of(const std::vector<Sample>& samples) {
    Targets targets;
    for (const Sample& sample : samples) targets[sample.operation.family()].insert(sample.operation.operation.target);
    return targets;
}

/// Element-wise experts that saw the sizes of single dimensions told [16384, 12288] and [1024, 56, 56, 48] twelve per
/// cent apart.
std::vector<float> taught_row(const DeviceModel& device, const FamilyModel& model,
                              std::span<const Feature* const> columns, const PreparedOperation& operation) {
    std::vector<float> row = relative_row(device, model, columns, operation);
    if (model.family != Family::elementwise) return row;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (columns[i]->is_of_one_dimension) row[i] = std::numeric_limits<float>::quiet_NaN();
    }
    return row;
}

/// What a device teaches of a family; its peak as the rule has it.
Expert fit_expert(std::span<const Sample* const> samples, const Device& device, const std::set<std::string>& targets,
                  const TrainSettings& settings) {
    const auto columns = all_columns();
    Expert expert{device.id, device.release_year, {}};
    FamilyModel& model = expert.model;
    model.family = samples.front()->operation.family();
    model.learner = settings.learner.value_or(Learner::xgboost);
    model.score_90 = 1;  // its intervals are those of the residual process
    model.rows = static_cast<std::int64_t>(samples.size());
    model.targets.assign(targets.begin(), targets.end());
    LearnerSettings learner = learner_settings(model.learner, settings.trees, settings.seed);
    learner.threads = settings.threads;
    Samples rows(samples.size(), columns.size());
    std::vector<double> logs;
    std::map<std::string, std::size_t> numbers;
    DeviceModel frame;
    frame.device = device;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        frame.point.math = samples[i]->math;
        const PreparedOperation operation = on(samples[i]->operation, device, samples[i]->math);
        rows.set_row(i, taught_row(frame, model, columns, operation));
        logs.push_back(samples[i]->log_kernel - std::log(seconds(operation.roofline) + device.kernel_latency_s));
        const std::string group = operation_group(operation.operation);
        learner.groups.push_back(numbers.try_emplace(group, numbers.size()).first->second);
    }
    model.ranges = ranges_of(rows);
    ModelPart part;
    part.base = Base::kernel;
    part.low = quantile(logs, 0.002);
    part.high = quantile(logs, 0.998);
    for (double& log : logs) log = std::clamp(log, part.low, part.high);
    part.model = fit_model(model.learner, rows, logs, learner);
    model.parts.push_back(std::move(part));
    return expert;
}

/// Experts are of one device and rule alone, so leaving a device out costs nothing where the rule stays.
class Experts {
  public:
    Experts(const std::vector<Sample>& samples, const TrainSettings& settings)
        : targets_(targets_of(samples)), settings_(settings) {}

    const std::vector<Expert>& of(const std::vector<const Sample*>& samples, const SustainedRule& rule) {
        const Device& device = *samples.front()->device;
        const auto [found, is_new] = fitted_.try_emplace({device.id, rule});
        if (!is_new) return found->second;
        const Device slower = sustained(device, rule);
        std::map<Family, std::vector<const Sample*>> families;
        for (const Sample* sample : samples) families[sample->operation.family()].push_back(sample);
        for (const auto& [family, of_family] : families) {
            if (of_family.size() < least_rows_of_expert) continue;
            found->second.push_back(fit_expert(of_family, slower, targets_.at(family), settings_));
        }
        return found->second;
    }

  private:
    Targets targets_;
    TrainSettings settings_;
    std::map<std::pair<std::string, SustainedRule>, std::vector<Expert>> fitted_;
};

/// Launch and effects of each kind of call that two devices have, and of each family.
class LawsOfKinds {
  public:
    void add(const std::string& device, const std::vector<const Sample*>& samples, const SustainedRule& rule) {
        std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> logs;  // of large rows, of all
        std::map<std::string, double> launches;
        const Device slower = sustained(*samples.front()->device, rule);
        for (const Sample* sample : samples) {
            const double roof = seconds(roofline(sample->operation.operation, slower, sample->math));
            for (const std::string& key : {sample->key, sample->family_key}) {
                auto& [large, any_size] = logs[key];
                any_size.push_back(sample->log_kernel - std::log(roof + slower.kernel_latency_s));
                if (roof > large_roofline_s) large.push_back(any_size.back());
                launches[key] = std::max(launches[key], sample->launch_s);
            }
        }
        for (const auto& [key, of_key] : logs) {
            const auto& [large, any_size] = of_key;
            PooledLaw& law = laws_[key];
            law.key = key;
            law.rows += static_cast<std::int64_t>(any_size.size());
            launches_[key].push_back(launches[key]);
            if (any_size.size() < least_rows_of_effect && !is_family_law_key(key)) continue;
            law.effects.push_back(
                {device, slower.release_year, median(large.size() < least_rows_of_effect ? any_size : large)});
        }
    }

    std::vector<PooledLaw> all() const {
        std::vector<PooledLaw> found;
        for (const auto& [key, law] : laws_) {
            if (law.effects.empty() || (law.effects.size() < 2 && !is_family_law_key(key))) continue;
            found.push_back(law);
            found.back().launch_s = median(launches_.at(key));
        }
        return found;
    }

  private:
    std::map<std::string, PooledLaw> laws_;
    std::map<std::string, std::vector<double>> launches_;
};

/// The model of those devices, without its prior.
PooledModel model_of(const SamplesOfDevice& devices, Experts& experts) {
    PooledModel pooled;
    std::vector<const Sample*> samples_of_devices;
    for (const auto& [id, samples] : devices)
        samples_of_devices.insert(samples_of_devices.end(), samples.begin(), samples.end());
    pooled.sustained = choose_rule(samples_of_devices);
    LawsOfKinds laws;
    for (const auto& [id, samples] : devices) {
        pooled.devices.push_back(id);
        const auto& of_device = experts.of(samples, pooled.sustained);
        pooled.experts.insert(pooled.experts.end(), of_device.begin(), of_device.end());
        laws.add(id, samples, pooled.sustained);
    }
    pooled.laws = laws.all();
    std::vector<double> overheads;
    for (const PooledLaw& law : pooled.laws) overheads.push_back(law.launch_s);
    pooled.call_overhead_s = overheads.empty() ? 0 : quantile(overheads, 0.75);
    std::vector<double> hidden;
    for (const auto& [id, samples] : devices) {
        const double of_device = (*std::ranges::max_element(samples, {}, &Sample::hidden_s))->hidden_s;
        if (of_device > 0) hidden.push_back(of_device);  // replays of a graph have no launch
    }
    pooled.hidden_launch_s = hidden.empty() ? 0 : median(hidden);
    std::vector<double> paces;
    for (const Sample* sample : samples_of_devices)
        if (sample->issue_pace > 0) paces.push_back(sample->issue_pace);
    pooled.issue_pace = paces.empty() ? 0 : median(paces);
    pooled.kind = samples_of_devices.front()->device->kind;
    pooled.point.math = samples_of_devices.front()->math;
    pooled.rows = static_cast<std::int64_t>(samples_of_devices.size());
    return pooled;
}

/// Log errors on a device that the model was made for from others, of each call in its engine.
ErrorsByFamily errors_on(DeviceModel& model, const std::vector<const Sample*>& samples) {
    const auto columns = all_columns();
    std::map<std::string, std::vector<std::pair<double, const Sample*>>> kinds;
    for (const Sample* sample : samples) kinds[sample->key].emplace_back(sample->log_kernel, sample);
    ErrorsByFamily errors;
    for (auto& [key, by_time] : kinds) {
        for (const Sample* sample : at_even_steps(std::move(by_time), most_rows_left_out)) {
            const PreparedOperation operation = on(sample->operation, model.device, sample->math);
            model.point.engine = sample->engine;
            const auto forecast = forecast_log(model, columns, operation, Metric::time);
            if (!forecast) continue;
            const NumberWidth width = number_width(operation.operation, operation.math);
            errors[operation.family()][width].push_back(sample->log_kernel - std::log(forecast->kernel_s));
        }
    }
    return errors;
}

/// Of each device what the model of the others makes of it, their experts taken together in that way.
std::vector<ErrorsByFamily> errors_left_out(std::vector<DeviceModel>& of_others, const SamplesOfDevice& devices,
                                            const Combination& combination) {
    std::vector<ErrorsByFamily> errors;
    auto model = of_others.begin();
    for (const auto& [id, samples] : devices) {
        model->unseen->combination = combination;
        model->unseen->combinations.clear();
        errors.push_back(errors_on(*model++, samples));
    }
    return errors;
}

double mean_size(const ErrorsByWidth& errors) {
    double sum = 0;
    std::size_t count = 0;
    for (const auto& [width, logs] : errors) {
        for (const double error : logs) sum += std::abs(error);
        count += logs.size();
    }
    return sum / static_cast<double>(count);
}

/// Mean over devices and families of the mean absolute error, so that neither counts by its rows; over one family where
/// one is named. Who asks for a device that was never measured mostly asks for a new one: devices count by
/// 3^-(years before the newest / 3).
double mean_error(const std::vector<ErrorsByFamily>& devices, const SamplesOfDevice& samples,
                  std::optional<Family> alone = std::nullopt) {
    constexpr double year_scale = 3;
    double newest = 0;
    for (const auto& [id, of_device] : samples) newest = std::fmax(newest, of_device.front()->device->release_year);
    double sum = 0;
    double weights = 0;
    auto errors = devices.begin();
    for (const auto& [id, of_device] : samples) {
        const double weight = age_weight(of_device.front()->device->release_year, newest, year_scale);
        for (const auto& [family, logs] : *errors++) {
            if (alone && family != *alone) continue;
            sum += weight * mean_size(logs);
            weights += weight;
        }
    }
    return weights > 0 ? sum / weights : 0;
}

/// With fewer devices than that the best way for a family is chance: it goes with the others.
constexpr std::ptrdiff_t least_devices_of_family = 5;

std::set<Family> families_of(const std::vector<ErrorsByFamily>& devices) {
    std::map<Family, std::ptrdiff_t> known;
    for (const ErrorsByFamily& errors : devices) {
        for (const auto& [family, logs] : errors) ++known[family];
    }
    std::set<Family> families;
    for (const auto& [family, count] : known) {
        if (count >= least_devices_of_family) families.insert(family);
    }
    return families;
}

/// Those that do not carry the chip of that one: of a new card nobody knows it, as a rule. Where all do, all but
/// itself.
SamplesOfDevice of_other_chips(const SamplesOfDevice& devices, const Device& left_out) {
    SamplesOfDevice others = devices;
    std::erase_if(others, [&](const auto& entry) { return same_chip(*entry.second.front()->device, left_out); });
    if (others.empty()) others = devices;
    others.erase(left_out.id);
    return others;
}

/// How experts of each family are best taken together, and how far the result is off: from each device left out in
/// turn. With two devices there is nothing to learn that from.
void learn_from_left_out(PooledModel& pooled, const SamplesOfDevice& devices, Experts& experts) {
    pooled.prior.common = 0.3;
    pooled.prior.devices = static_cast<double>(devices.size());
    if (devices.size() < 3) return;
    std::vector<DeviceModel> of_others;
    for (const auto& [id, left_out] : devices) {
        const SamplesOfDevice rest = of_other_chips(devices, *left_out.front()->device);
        of_others.push_back(instantiate(model_of(rest, experts), *left_out.front()->device));
    }
    constexpr double clearly_better = 0.97;
    auto errors = errors_left_out(of_others, devices, pooled.combination);
    const std::set<Family> families = families_of(errors);
    double least = clearly_better * mean_error(errors, devices);
    std::map<Family, double> least_of;
    std::map<Family, std::vector<ErrorsByFamily>> errors_of;
    for (const Family family : families) least_of[family] = clearly_better * mean_error(errors, devices, family);
    for (const Combination& tried : {Combination{3, true}, Combination{1.5, true}, Combination{0, false},
                                     Combination{3, false}, Combination{1.5, false}}) {
        auto of_tried = errors_left_out(of_others, devices, tried);
        for (const Family family : families) {
            const double error = mean_error(of_tried, devices, family);
            if (error >= least_of[family]) continue;
            least_of[family] = error;
            pooled.combinations[family] = tried;
            errors_of[family] = of_tried;
        }
        if (const double error = mean_error(of_tried, devices); error < least) {
            least = error;
            pooled.combination = tried;
            errors = std::move(of_tried);
        }
    }
    for (const auto& [family, of_family] : errors_of) {
        for (std::size_t i = 0; i < errors.size(); ++i) {
            if (const auto found = of_family[i].find(family); found != of_family[i].end())
                errors[i][family] = found->second;
        }
    }
    pooled.prior = prior_of(errors);
}

void check_parts(std::span<const DeviceRows* const> parts) {
    std::set<std::string> devices;
    for (const DeviceRows* part : parts) {
        devices.insert(part->device.id);
        if (part->device.kind != parts.front()->device.kind || part->setting.math != parts.front()->setting.math)
            throw Error("a model over devices is of devices of one kind and of one math");
    }
    if (devices.size() < 2) throw Error("a model over devices needs measurements of two devices or more");
}

}  // namespace

PooledModel train_pooled(std::span<const DeviceRows* const> parts, const TrainSettings& settings) {
    check_parts(parts);
    const std::vector<Sample> samples = pooled_samples(parts);
    SamplesOfDevice devices;
    for (const Sample& sample : samples) devices[sample.device->id].push_back(&sample);
    if (devices.size() < 2) throw Error("of fewer than two devices an operation was measured that outlasts its launch");
    Experts experts(samples, settings);
    PooledModel pooled = model_of(devices, experts);
    learn_from_left_out(pooled, devices, experts);
    return pooled;
}

}  // namespace joulecast
