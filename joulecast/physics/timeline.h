#pragma once

#include <span>
#include <vector>

namespace joulecast {

/// One call: how long the host needs to issue it and the device to compute it.
struct TimelineStep {
    double host_s = 0;
    double device_s = 0;
    bool synchronises = false;  ///< the host waits for the device before it goes on (item, nonzero)
};

struct Timeline {
    std::vector<double> issue_start_s;  ///< when the host begins to issue each call
    std::vector<double> issue_end_s;
    std::vector<double> device_start_s;
    std::vector<double> device_end_s;
    double host_end_s = 0;
    double total_s = 0;  ///< when the device is done
};

/// host += h; start = max(host, device); device = start + d. A CPU computes where it issues: its host times are zero
/// and the total is the sum.
Timeline compose(std::span<const TimelineStep> steps);

}  // namespace joulecast
