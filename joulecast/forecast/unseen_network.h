#pragma once

#include <span>

#include "joulecast/forecast/compose.h"
#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Relative standard deviations of a network's times.
struct TimeDeviations {
    double whole = 0;
    double device = 0;  ///< of the device's timeline
    double host = 0;    ///< of the host's
};

/// What decides how the time of a call's kernels is off together with those of others.
struct KernelError {
    ResidualPlace place;
    double backward_share = 0;  ///< of the call's time, roughly
};

KernelError kernel_error(const PreparedOperation& operation, const Device& device);

/// Of a network on a device that was never measured. Kernels of one device, of one family and of like sizes are off
/// alike, as the model over devices was on those left out (ResidualProcess); who issues them is another machine; and
/// either counts by as much as the network's time follows it.
TimeDeviations deviations_of_unseen(const DeviceModel& device, std::span<const OperationForecast> operations,
                                    const NetworkParts& parts, const NetworkCorrection& correction);

}  // namespace joulecast
