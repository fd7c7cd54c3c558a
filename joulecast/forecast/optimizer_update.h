#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/forecast/issue_order.h"

namespace joulecast {

/// The calls of an optimizer's update in their order, with the defaults of torch.optim (momentum 0.9; Adam: betas 0.9
/// and 0.999, eps 1e-8; AdamW also decays), once its state exists.
///
/// loop: what _single_tensor_sgd and _single_tensor_adam call for every parameter. foreach: the lists of
/// _multi_tensor_sgd and _multi_tensor_adam for each type of parameters; on a GPU each is so many launches as
/// MultiTensorApply.cuh of CUDA 13 makes of it, on a CPU torch walks the list, which is the loop again. fused:
/// _fused_sgd_ and _fused_adam_, which pass once over parameters, gradients and state. (torch 2.13.)
///
/// `kinds` have count 1 for each time that they are called in turn: those of a parameter stand together, in its place.
struct UpdateCalls {
    std::vector<CallKind> kinds;
    std::vector<std::uint32_t> order;  ///< into kinds
};
UpdateCalls update_calls(std::span<const TensorType> parameters, const TrainingSetup& training, Device::Kind kind);

}  // namespace joulecast
