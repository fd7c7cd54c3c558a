#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"

namespace joulecast {

/// One thing that two databases have measured alike.
struct SharedMeasurement {
    std::string kind;  ///< "operation", "network"
    std::string what;  ///< signature; or model, symbols, precision
    std::string device;
    std::string mode;
    double asked_sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double before_s = 0;
    double after_s = 0;
    /// Half of the interval around each in which a repeat falls in 95 of 100 cases: 1.96 sqrt(2) sigma_t, since the
    /// repeat has an error like that of what it is compared with. NaN: the row has no half width.
    double before_interval_s = std::numeric_limits<double>::quiet_NaN();
    double after_interval_s = std::numeric_limits<double>::quiet_NaN();

    double difference() const { return after_s / before_s - 1; }
    bool after_inside() const;   ///< the second lies in the interval of the first
    bool before_inside() const;  ///< and the other way round
};

/// How well two runs agree.
struct Agreement {
    std::vector<SharedMeasurement> shared;  ///< the largest difference against its interval first
    std::int64_t only_before = 0;           ///< measured in the first alone
    std::int64_t only_after = 0;
    /// Of shared operations; of networks. NaN without any.
    double operations_inside = std::numeric_limits<double>::quiet_NaN();
    double networks_inside = std::numeric_limits<double>::quiet_NaN();
    double median_difference = std::numeric_limits<double>::quiet_NaN();  ///< of all, with its sign
};

/// Half of the interval in which a repeat of this row falls in 95 of 100 cases.
double repeat_interval_s(const TimeSummary& time, double sigma_between);

/// Matches what was timed (ok or unstable) at the same point by the same method; of several rows for the same thing in
/// one database the last counts. A share counts both directions, each for one half.
Agreement agreement(const Dataset& before, const Dataset& after);

}  // namespace joulecast
