#pragma once

#include <cstdint>
#include <optional>

#include "joulecast/forecast/step_part.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

/// What a training step is beside forward and backward.
struct TrainingSetup {
    Optimizer optimizer = Optimizer::none;
    std::int64_t accumulation = 1;  ///< micro-batches a step
    bool checkpointing = false;     ///< torch.utils.checkpoint around each block (physics/checkpointing.h)
    std::optional<UpdateForm> form = std::nullopt;  ///< of the update; absent: default_form()
};

}  // namespace joulecast
