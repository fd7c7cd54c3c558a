#pragma once

#include "joulecast/forecast/prepared_operation.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// Kinds of calls whose kernels are known well enough to be told by a rule, on a device that was never measured, where
/// no law was fitted to such calls.
struct KernelRule {
    /// What a pass takes by what is known of its kernels, in seconds.
    using Pass = double (*)(const PreparedOperation&, const Device&);

    bool (*applies)(const PreparedOperation&, const Device&) = nullptr;
    /// Whether the law that the call falls under is of other kinds of calls.
    bool (*is_of_others)(const TrainedLaw&) = nullptr;
    Pass forward = nullptr;
    Pass backward = nullptr;  ///< nullptr: at the forward pass's share of the roofline
};

/// The rule of such calls; nullptr where there is none.
const KernelRule* kernel_rule(const PreparedOperation& operation, const Device& device);

}  // namespace joulecast
