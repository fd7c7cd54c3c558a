#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Roofline against measured families on CPUs: 1.2 to 10 times, so what nothing is known of is put at 3 times the
/// roofline.
inline constexpr double analytic_slowdown = 3;

/// What a kernel takes that no model tells.
struct AnalyticKernel {
    double seconds = 0;
    double unadjusted_s = 0;  ///< before anything was measured
    double half_width = 0;    ///< of the 90 % interval, in log; 0: nothing of the device was measured that tells it
};

/// Without its launch: the work by its law, and no less than its instructions or than the shortest kernel does; of a
/// device of which operations were measured, by what its calls of that kind took over that.
AnalyticKernel analytic_kernel(const DeviceModel& device, const PreparedOperation& operation);
/// The same before anything was measured, in seconds.
double unadjusted_analytic_s(const DeviceModel& device, const PreparedOperation& operation);
/// Where its error lies among those of the device.
ResidualPlace analytic_place(const DeviceModel& device, const PreparedOperation& operation);
/// Whether that is how a call is told that has no model: its counts are known, and it is no view.
bool is_told_analytically(const PreparedOperation& operation);

}  // namespace joulecast
