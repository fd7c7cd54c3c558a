#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "joulecast/train/train.h"

namespace joulecast {

/// A value with half of its 95 % interval; NaN where not known.
struct WithError {
    double value = std::numeric_limits<double>::quiet_NaN();
    double half_width = std::numeric_limits<double>::quiet_NaN();
};

/// A measured network beside the sum of its measured operations: the thesis' tables I and II.
struct SummedNetwork {
    NetworkMeasurement measurement;
    WithError time_s;
    WithError energy_j;
    WithError summed_time_s;
    WithError summed_energy_j;  ///< NaN where the power of one measured operation is not known
    /// That compute: without views, shape arithmetic, and what was not measured and changes no tensor of the network
    /// (batch counters of batch norm, dropout that drops nothing).
    std::int64_t calls = 0;
    std::int64_t measured_calls = 0;  ///< of these, those that the sums hold
    /// Gradients of the network's own input in the sums, which its step does not compute: where the first layer was
    /// measured with them alone, that row stands in. The part of its time that they are by its arithmetic.
    double input_gradient_s = 0;
    /// Of the sums, batch norm that computed its batch's statistics where the network uses those it has learned:
    /// measured in training state alone, as layers of the thesis were.
    double batch_statistics_s = 0;

    double measured_share() const {
        return calls > 0 ? static_cast<double>(measured_calls) / static_cast<double>(calls) : 0;
    }
};

/// Sums of calls that were measured, nothing for the others: measured_share() says how much that leaves out. For a call
/// that was not measured itself stands what was measured of its sibling (in place or not), with a gradient of its
/// input, or of batch norm in training state. Calls of one operation share its error, which adds linearly; different
/// operations err independently.
std::vector<SummedNetwork> summed_networks(std::span<const TrainingNetwork> networks,
                                           const MeasuredOperations& measured);

}  // namespace joulecast
