#pragma once

#include <limits>
#include <optional>
#include <string>

#include "joulecast/device/device.h"
#include "joulecast/physics/memory.h"

namespace joulecast {

/// A plan against the memory of a device, in bytes.
struct MemoryFit {
    double needed_bytes = std::numeric_limits<double>::quiet_NaN();
    double available_bytes = std::numeric_limits<double>::quiet_NaN();  ///< Device::memory_bytes; NaN: not known

    /// Absent where the device's memory is not known.
    std::optional<bool> fits() const;
    /// Positive where it does not fit; NaN where the device's memory is not known.
    double exceeds_by_bytes() const { return needed_bytes - available_bytes; }
};

/// What is needed: what a caching allocator would take where the plan knows it, else parameters, inputs and the peak
/// above them. Driver and context take some hundred MB more on a GPU, which no plan knows: a fit by less is none.
MemoryFit memory_fit(const MemoryPlan& plan, const Device& device);

/// "needs 31.2 GB, 5.4 GB more than the 25.8 GB of NVIDIA A30; most of it is kept for the backward pass: a smaller
/// batch, or --checkpointing". Names what the largest share is and what makes it smaller. Empty where it fits or is
/// not known.
std::string overflow_text(const MemoryPlan& plan, const MemoryFit& fit, const Device& device);

}  // namespace joulecast
