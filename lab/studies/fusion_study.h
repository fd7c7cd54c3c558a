#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/measured_operations.h"
#include "joulecast/model/predictor.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// How well rules learnt from the other networks tell what an engine's kernels do of this one, and factors of the
/// others what it takes.
struct FusionScore {
    std::string framework;  ///< "onnxruntime 1.32.0"
    std::string model;
    std::string sizes;  ///< "batch=1"
    std::string precision;
    std::int64_t nodes = 0;   ///< all but arithmetic on sizes
    std::int64_t right = 0;   ///< of these, in the same group of nodes as in the engine's kernels, or in none as there
    std::int64_t groups = 0;  ///< of nodes, in the engine's kernels
    std::int64_t groups_told = 0;  ///< by the rules
    double measured_s = 0;
    double summed_s = 0;  ///< all calls, each alone
    double told_s = 0;    ///< by the groups

    double share() const { return nodes > 0 ? static_cast<double>(right) / static_cast<double>(nodes) : 0; }
};

/// Each network that was told kernels of, by rules and factors of all networks of other models. Operations are as
/// measured, and those that were not as the device's model has them.
std::vector<FusionScore> fusion_scores(const DeviceModel& device, std::span<const TrainingNetwork> networks,
                                       const MeasuredOperations& measured);

}  // namespace joulecast
