#include "joulecast/forecast/published/attributes.h"
#include "lab/baselines/layer_regression.h"

namespace joulecast {
namespace {

/// Operations, what is read and written of activations, and weights.
std::vector<float> terms(const Subject& subject) {
    const Dimensions& d = subject.operation->dimensions;
    const Counts counts = d.forward + d.backward;
    return {static_cast<float>(static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop)),
            static_cast<float>(d.input_bytes), static_cast<float>(d.output_bytes), static_cast<float>(d.weight_bytes)};
}

}  // namespace

Fitted fit_velasco(Observations rows, const BaselineSettings& settings) {
    LearnerSettings line;
    line.seed = settings.seed;
    return fit_per_layer(rows, {layer_type_on_device, terms, [&](const LayerRows& of_layer) {
                                    return fit_learner(Learner::linear, of_layer, line);
                                }});
}

}  // namespace joulecast
