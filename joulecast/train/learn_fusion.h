#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/graph/graph.h"
#include "joulecast/model/fusion_groups.h"
#include "joulecast/model/predictor.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// What one network tells of fusion: of each key, how often it was asked for and how often the answer was yes.
struct ObservedKey {
    int asked = 0;
    int yes = 0;
};
using ObservedFusion = std::map<std::string, ObservedKey>;

ObservedFusion observed_fusion(const Graph& graph, const FusionGroups& measured);

/// The rules of several networks, each of which has one vote for each key. A key with as many votes for as against is
/// no rule, nor one that says what the rule does that would be asked next; one of kinds of calls is a rule where three
/// networks or more have it and agree.
std::vector<FusionRule> fusion_rules(std::span<const ObservedFusion* const> networks);

/// Networks of one precision in inference that one version of the engine told kernels of: the version with most
/// networks, of several with as many the last by name. Indices into `networks`.
struct ToldNetworks {
    std::string precision;
    std::string framework;
    std::vector<std::size_t> networks;
    std::vector<std::string> others;  ///< versions that are not taken
};
std::vector<ToldNetworks> told_networks(std::span<const TrainingNetwork> networks);

/// A measured network beside what its calls take alone, by their roles in the engine's kernels.
struct FusedSample {
    const TrainingNetwork* network = nullptr;
    FusionGroups groups;
    ObservedFusion observed;
    std::map<std::string, double> seconds;
    double measured_s = 0;
    double sigma = 0;  ///< relative standard deviation that its operations explain
};
/// The network must outlive it. Throws FormatError for kernels of nodes that it does not have.
FusedSample fused_sample(const TrainingNetwork& network, ForecastCache& known);

/// Rules, and factors of roles that bring sums nearest to the measured times by least squares, as shares of these,
/// pulled to usual_factor(). Networks of one model count as one together; those whose operations are less certain less.
FusionModel fitted_fusion(std::span<const FusedSample* const> samples);

/// What a network takes by a model that may not know it.
double fused_seconds(const Graph& graph, const FusionModel& fusion, ForecastCache& known);

/// Of one model, by rules and factors of the others.
FusionModel fitted_without(const std::string& model, std::span<const FusedSample> samples);

/// Sets `fusions` of the device, with the systematic error of networks of which neither rules nor factors knew. The
/// operations of the networks count as forecast while held out.
void learn_fusions(DeviceModel& device, std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out,
                   std::span<const TrainingNetwork> networks);

}  // namespace joulecast
