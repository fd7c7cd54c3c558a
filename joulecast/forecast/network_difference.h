#pragma once

#include <limits>

#include "joulecast/forecast/forecast.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// What something costs more, with its 90 % interval; NaN where it is not known of one of the two.
struct CostDifference {
    double value = std::numeric_limits<double>::quiet_NaN();
    double low = std::numeric_limits<double>::quiet_NaN();
    double high = std::numeric_limits<double>::quiet_NaN();

    /// Whether even the sign is beyond the error.
    bool exceeds_error() const { return low > 0 || high < 0; }
};

struct NetworkDifference {
    CostDifference time_s;
    CostDifference energy_j;
    CostDifference peak_memory_bytes;  ///< above parameters and inputs
    double resident_bytes = std::numeric_limits<double>::quiet_NaN();
};

/// `after` less `before`, both forecast on that device at one setting. A forecast of an operation errs alike in both
/// networks, so calls that both have cancel: what is left of its error is that of the calls that one has more than the
/// other. Errors of different operations are independent; the error of composing a network (sigma_network,
/// sigma_energy) is the same share of both, so of the difference, too. Errors are those of the sum of the calls, times
/// how the networks' costs compare to their sums.
NetworkDifference difference(const NetworkForecast& before, const NetworkForecast& after, const DeviceModel& device);

}  // namespace joulecast
