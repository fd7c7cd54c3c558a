#include "joulecast/train/learn_fusion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "joulecast/forecast/compose.h"
#include "joulecast/forecast/forecast_calls.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/fused_calls.h"
#include "joulecast/physics/non_negative_least_squares.h"
#include "joulecast/train/calibrate_networks.h"
#include "joulecast/train/held_out_operations.h"

namespace joulecast {
namespace {

/// Fewer tell rules, but not how networks compare to their calls.
constexpr std::size_t least_models = 3;
/// Before a network was measured, as of calibrate_networks().
constexpr double default_sigma = 0.12;

/// Error of a network whose operations are all known, and a factor's standard deviation before any network was
/// measured.
constexpr double error_of_network = 0.05, deviation_of_factor = 0.3;
constexpr double pull = error_of_network * error_of_network / (deviation_of_factor * deviation_of_factor);

std::map<std::string, double> seconds_by_role(const IssueOrder& order, ForecastCache& known) {
    std::map<std::string, double> seconds;
    for (const OperationForecast& operation : forecast_calls(order, known)) {
        if (operation.role == role_not_run) continue;
        seconds[operation.role] += static_cast<double>(operation.count) * operation.cost.device_time.value.value();
    }
    return seconds;
}

IssueOrder plain_order(const Graph& graph, const DeviceModel& device) {
    return issue_order(graph, {}, device.device.kind);
}

std::vector<FusionFactor> fitted_factors(std::span<const FusedSample* const> samples) {
    std::map<std::string, std::set<std::string>> models;
    std::map<std::string, double> of_model;
    for (const FusedSample* sample : samples) {
        ++of_model[sample->network->measurement.model];
        for (const auto& [role, seconds] : sample->seconds)
            if (seconds > 0) models[role].insert(sample->network->measurement.model);
    }
    std::vector<double> rows, targets;
    for (const FusedSample* sample : samples) {
        const double certain = error_of_network / std::hypot(error_of_network, sample->sigma);
        const double weight = certain / std::sqrt(of_model[sample->network->measurement.model]);
        for (const auto& [role, whose] : models) {
            const auto found = sample->seconds.find(role);
            const double seconds = found == sample->seconds.end() ? 0 : found->second;
            rows.push_back(weight * seconds / sample->measured_s);
        }
        targets.push_back(weight);
    }
    for (const auto& [role, whose] : models) {
        for (const auto& [other, others] : models) rows.push_back(other == role ? std::sqrt(pull) : 0);
        targets.push_back(std::sqrt(pull) * usual_factor(role));
    }
    if (models.empty()) return {};
    const std::vector<double> fitted = non_negative_least_squares(rows, targets);
    std::vector<FusionFactor> factors;
    for (const auto& [role, whose] : models)
        factors.push_back({role, fitted[factors.size()], static_cast<std::int64_t>(whose.size())});
    return factors;
}

/// Of each model, by rules and factors of the others.
double left_out_sigma(std::span<const FusedSample> samples, ForecastCache& known) {
    std::set<std::string> models;
    for (const FusedSample& sample : samples) models.insert(sample.network->measurement.model);
    if (models.size() < least_models) return default_sigma;
    std::vector<NetworkError> errors;
    for (const std::string& model : models) {
        const FusionModel fusion = fitted_without(model, samples);
        for (const FusedSample& sample : samples) {
            if (sample.network->measurement.model != model) continue;
            const double told = fused_seconds(sample.network->graph, fusion, known);
            errors.push_back({std::log(sample.measured_s / told), sample.sigma});
        }
    }
    return systematic_sigma(errors);
}

bool tells_fusion(const TrainingNetwork& network) {
    const NetworkMeasurement& m = network.measurement;
    return !m.kernels.empty() && m.mode == Mode::inference && network.graph.has_edges && is_timed(m.outcome) &&
           m.time.median_s > 0;
}

/// Whether a rule would be given by the next key that is asked for: the same without who reads the result.
bool says_the_same(const std::string& key, bool holds, const std::map<std::string, double>& votes) {
    if (!key.starts_with("join|")) return false;
    const auto shorter = votes.find(key.substr(0, key.rfind('|')));
    return shorter != votes.end() && shorter->second != 0 && (shorter->second > 0) == holds;
}

/// A key that holds for kinds of calls goes beyond what was seen, so a few networks that are alike do not make it a
/// rule.
bool most_agree(double vote, double networks) {
    constexpr double least_networks = 3, least_share = 0.8;
    return networks >= least_networks && std::abs(vote) >= least_share * networks;
}

}  // namespace

FusedSample fused_sample(const TrainingNetwork& network, ForecastCache& known) {
    FusedSample sample;
    sample.network = &network;
    sample.groups = groups_of_kernels(network.graph, network.measurement.kernels);
    sample.observed = observed_fusion(network.graph, sample.groups);
    const IssueOrder order = with_roles(plain_order(network.graph, known.device()), network.graph, sample.groups);
    sample.seconds = seconds_by_role(order, known);
    sample.measured_s = network.measurement.time.median_s;
    sample.sigma = parts_of(forecast_calls(order, known), order).sigma_time;
    return sample;
}

FusionModel fitted_fusion(std::span<const FusedSample* const> samples) {
    FusionModel fusion;
    std::vector<const ObservedFusion*> observed;
    std::set<std::string> models;
    for (const FusedSample* sample : samples) {
        observed.push_back(&sample->observed);
        models.insert(sample->network->measurement.model);
    }
    fusion.rules = fusion_rules(observed);
    fusion.factors = fitted_factors(samples);
    fusion.networks = static_cast<std::int64_t>(models.size());
    return fusion;
}

FusionModel fitted_without(const std::string& model, std::span<const FusedSample> samples) {
    std::vector<const FusedSample*> others;
    for (const FusedSample& sample : samples)
        if (sample.network->measurement.model != model) others.push_back(&sample);
    return fitted_fusion(others);
}

double fused_seconds(const Graph& graph, const FusionModel& fusion, ForecastCache& known) {
    const IssueOrder order = with_fusion(plain_order(graph, known.device()), graph, fusion);
    double seconds = 0;
    for (const auto& [role, of_role] : seconds_by_role(order, known)) seconds += of_role;
    return seconds;
}

ObservedFusion observed_fusion(const Graph& graph, const FusionGroups& measured) {
    ObservedFusion observed;
    const auto group = [&measured](std::int32_t node) { return measured.at(static_cast<std::size_t>(node)); };
    fusion_groups(graph, [&](const FusionQuestion& asked) {
        const bool is_run = group(asked.node) != not_run;
        const bool answer = asked.producer < 0 ? !is_run : is_run && group(asked.node) == group(asked.producer);
        for (const std::string& key : asked.keys) {
            ++observed[key].asked;
            observed[key].yes += answer ? 1 : 0;
        }
        return answer;
    });
    return observed;
}

std::vector<FusionRule> fusion_rules(std::span<const ObservedFusion* const> networks) {
    std::map<std::string, double> votes;  // for less against
    std::map<std::string, double> voters;
    for (const ObservedFusion* network : networks) {
        for (const auto& [key, seen] : *network) {
            votes[key] += 2.0 * seen.yes / seen.asked - 1;
            ++voters[key];
        }
    }
    std::vector<FusionRule> rules;
    for (const auto& [key, vote] : votes) {
        if (vote == 0 || says_the_same(key, vote > 0, votes)) continue;
        if (is_of_kinds(key) && !most_agree(vote, voters[key])) continue;
        rules.push_back({key, vote > 0});
    }
    return rules;
}

std::vector<ToldNetworks> told_networks(std::span<const TrainingNetwork> networks) {
    std::map<std::string, std::map<std::string, std::vector<std::size_t>>> by_precision;
    for (std::size_t i = 0; i < networks.size(); ++i) {
        if (tells_fusion(networks[i]))
            by_precision[networks[i].measurement.precision][networks[i].framework].push_back(i);
    }
    std::vector<ToldNetworks> told;
    for (auto& [precision, by_framework] : by_precision) {
        auto most = by_framework.begin();
        for (auto next = most; next != by_framework.end(); ++next)
            if (next->second.size() >= most->second.size()) most = next;
        ToldNetworks& taken = told.emplace_back(precision, most->first, std::move(most->second));
        for (const auto& [framework, of_framework] : by_framework)
            if (framework != taken.framework) taken.others.push_back(framework);
    }
    return told;
}

void learn_fusions(DeviceModel& device, std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out,
                   std::span<const TrainingNetwork> networks) {
    device.fusions.clear();
    const auto columns = all_columns();
    const auto times = held_out_operations(rows, held_out);
    ForecastCache known(device, columns, times);
    std::vector<FusionModel> fusions;
    for (const ToldNetworks& told : told_networks(networks)) {
        std::vector<FusedSample> samples;
        for (const std::size_t i : told.networks) samples.push_back(fused_sample(networks[i], known));
        std::vector<const FusedSample*> all;
        for (const FusedSample& sample : samples) all.push_back(&sample);
        FusionModel fusion = fitted_fusion(all);
        fusion.precision = told.precision;
        fusion.framework = told.framework;
        fusion.sigma = left_out_sigma(samples, known);
        fusions.push_back(std::move(fusion));
    }
    device.fusions = std::move(fusions);
}

}  // namespace joulecast
