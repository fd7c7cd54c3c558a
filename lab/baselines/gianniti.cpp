#include "joulecast/forecast/published/attributes.h"
#include "lab/baselines/layer_regression.h"

namespace joulecast {
namespace {

/// The paper's table of complexities counts the arithmetic of a layer, forward and (where it trains) backward; ours is
/// the operation's own count.
std::vector<float> complexity(const Subject& subject) {
    const Counts counts = subject.operation->dimensions.forward + subject.operation->dimensions.backward;
    return {static_cast<float>(static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop))};
}

}  // namespace

Fitted fit_gianniti(Observations rows, const BaselineSettings& settings) {
    LearnerSettings line;
    line.seed = settings.seed;
    return fit_per_layer(rows, {layer_type_on_device, complexity, [&](const LayerRows& of_layer) {
                                    return fit_learner(Learner::linear, of_layer, line);
                                }});
}

}  // namespace joulecast
