#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/train/pooled.h"

namespace joulecast {

/// What was measured on one device at one setting, whole networks too.
struct MeasuredDevice {
    DeviceRows rows;
    std::vector<TrainingNetwork> networks;
    MeasuredOperations measured;
};

/// Each device in turn, with all its rows at all its settings, forecast from its data sheet by a model over the others
/// of its kind and math. With `probes` above 0 the model is then adjusted to so many of its operations, chosen before
/// anything measured is looked at; these are not among the results. Folds are the devices in order of their ids.
/// Settings that say how rows are split or which learners are compared do not matter here. Throws Error for fewer than
/// three devices of a kind and math.
NetworkValidation validate_devices(std::span<const MeasuredDevice> devices, const ValidationSettings& settings,
                                   std::size_t probes);

}  // namespace joulecast
