#include "lab/studies/fusion_study.h"

#include <cstddef>

#include "joulecast/graph/symbol_values.h"
#include "joulecast/model/fusion_groups.h"
#include "joulecast/train/learn_fusion.h"

namespace joulecast {
namespace {

std::int64_t count_groups(const FusionGroups& groups) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) count += groups[i] == static_cast<std::int32_t>(i) ? 1 : 0;
    return count;
}

double summed_seconds(const Graph& graph, ForecastCache& known) {
    double seconds = 0;
    for (const CountedOperation& counted : count_operations(graph))
        seconds +=
            static_cast<double>(counted.count) * known.forecast(counted.operation).cost.device_time.value.value();
    return seconds;
}

FusionScore score_of(const FusedSample& sample, const FusionModel& others, ForecastCache& known) {
    const TrainingNetwork& network = *sample.network;
    const FusionGroups told = fusion_groups(network.graph, others);
    const GroupsAgreement agreed = agreement(network.graph, told, sample.groups);
    FusionScore score;
    score.framework = network.framework;
    score.model = network.measurement.model;
    score.sizes = values_text(network.measurement.symbols, ";");
    score.precision = network.measurement.precision;
    score.nodes = agreed.nodes;
    score.right = agreed.right;
    score.groups = count_groups(sample.groups);
    score.groups_told = count_groups(told);
    score.measured_s = sample.measured_s;
    score.summed_s = summed_seconds(network.graph, known);
    score.told_s = fused_seconds(network.graph, others, known);
    return score;
}

}  // namespace

std::vector<FusionScore> fusion_scores(const DeviceModel& device, std::span<const TrainingNetwork> networks,
                                       const MeasuredOperations& measured) {
    const auto columns = all_columns();
    ForecastCache known(device, columns, measured);
    std::vector<FusionScore> scores;
    for (const ToldNetworks& told : told_networks(networks)) {
        std::vector<FusedSample> samples;
        for (const std::size_t i : told.networks) samples.push_back(fused_sample(networks[i], known));
        for (const FusedSample& sample : samples)
            scores.push_back(score_of(sample, fitted_without(sample.network->measurement.model, samples), known));
    }
    return scores;
}

}  // namespace joulecast
