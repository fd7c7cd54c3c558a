#pragma once

#include <optional>
#include <string_view>

#include "joulecast/device/device.h"

namespace joulecast {

/// What a call of a network belongs to. In training a node of the graph is issued twice, forward and, in reverse order,
/// backward. gradient_sum: gradients that meet where a tensor has several readers; accumulation: gradients added to
/// those of the passes before; update: the optimizer's.
enum class StepPart { forward, backward, gradient_sum, accumulation, update };

/// "forward", "backward", "gradient sum", "accumulation", "update".
std::string_view name(StepPart part);

/// How an optimizer's update is issued: call by call for every parameter, by _foreach_ calls for lists of them, or by
/// one fused call.
enum class UpdateForm { loop, foreach, fused };

std::string_view name(UpdateForm form);
std::optional<UpdateForm> parse_update_form(std::string_view text);

/// What torch.optim takes where nothing is asked for: foreach on a GPU, the loop on a CPU (torch 2.13,
/// _default_to_fused_or_foreach).
UpdateForm default_form(Device::Kind kind);

}  // namespace joulecast
