#pragma once

#include "joulecast/measure/measurement.h"
#include "joulecast/measure/workload.h"

namespace joulecast {

/// Launch-bound: the host needs more than half of the device's time to issue a call (h / d > 0.5), or the call is so
/// short (d < 20 us) that the gaps between kernels count.
bool is_launch_bound(double issue_s, double device_s);

/// How fast the host issues calls of a device that works apart: h without waiting, and the eager time per call of a
/// batch that is waited for once, medians of several batches. `device_s`: about what a call takes on the device, by
/// events around eager calls, which is where launch_bound comes from.
IssueSummary measure_issue(Workload& workload, Clock& clock, double device_s);

}  // namespace joulecast
