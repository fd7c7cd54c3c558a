#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "joulecast/predict/train.h"

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
    WithError summed_energy_j;        ///< NaN where the power of one measured operation is not known
    std::int64_t calls = 0;           ///< that compute: views and shape arithmetic left out
    std::int64_t measured_calls = 0;  ///< of these, those that the sums hold

    double measured_share() const {
        return calls > 0 ? static_cast<double>(measured_calls) / static_cast<double>(calls) : 0;
    }
};

/// Sums of calls that were measured, nothing for the others: measured_share() says how much that leaves out. Calls of
/// one operation share its error, which adds linearly; different operations err independently.
std::vector<SummedNetwork> summed_networks(std::span<const TrainingNetwork> networks,
                                           const MeasuredOperations& measured);

}  // namespace joulecast
