#pragma once

#include <string>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// A layer as torch prints it, and the sizes of its one input.
struct TorchLayer {
    std::string type;        ///< class of torch.nn or torchvision: "Conv2d"
    std::string extra_repr;  ///< what stands in its brackets: "3, 64, kernel_size=(7, 7), stride=(2, 2), bias=False"
    Sizes input;
    Dtype dtype = Dtype::f32;
    /// Module.training: batch norm then takes its batch's statistics and dropout drops. Not the same as a backward
    /// pass.
    bool training_state = false;
};

/// The ATen call that the layer makes, as the graph readers write it. `with_backward` marks input and parameters as
/// requiring a gradient. Throws FormatError, in words without sizes so that reasons can be counted, for a class or an
/// attribute that is not known, sizes that do not fit, and layers that make no ATen call (Identity) or several
/// (StochasticDepth while it drops).
Operation to_operation(const TorchLayer& layer, bool with_backward);

/// Whether the layer drops something at random in training state and passes its input on otherwise. Its probability is
/// absent for other layers, and where the attributes do not tell it.
std::optional<double> drop_probability(const TorchLayer& layer);

}  // namespace joulecast
