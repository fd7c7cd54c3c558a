#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/features/dimensions.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/model/measured_operation.h"

namespace joulecast {

/// Seconds per call of a measurement, as forecasts count it.
double measured_seconds(const Measurement& measurement);
/// What a call takes within a network, where it was measured with sets of tensors that left the cache before each call.
struct InNetwork {
    double seconds = 0;
    double kept_share = 0;  ///< of the bytes moved: those that the cache still has, where the measured calls had none
};

/// What the call before has just written is still in the cache as far as it fits, weights are not. A share
/// 1 / (1 + (bytes / cache)^2) of what was touched so many bytes ago is found there: caches end gradually, as they are
/// hashed and not quite least-recently-used. From the middle of the call that wrote an input to the middle of this one
/// are the input's bytes and half of what this one moves. Seconds lie on the line through the cold and the hot time
/// over what is missed. In training the gradient of the output was just written, too; what was kept for the backward
/// pass is gone. On a CPU, where no issuing stands beside the time, and without a hot time or a size of the cache it is
/// measured_seconds().
InNetwork in_network(const Measurement& measurement, const Dimensions& dimensions, double cache_bytes);
/// Whether a row can be learned from: ok or unstable, with a positive time.
bool is_usable(const Measurement& measurement);

/// Watts while the operation or the network ran again and again; NaN where there was no meter.
double measured_watts(const Measurement& measurement);
double measured_watts(const NetworkMeasurement& measurement);
/// Joules of a run of the network; NaN where there was no meter.
double measured_joules(const NetworkMeasurement& measurement);

/// Of repeated measurements: their median; the interval covers their spread and the widest of their own, the half width
/// of whose 95 % interval that is.
template <class Unit>
Estimate<Unit> middle_of_repeats(std::span<const double> values, double half_width_95);

/// Several rows of one operation: their median; the interval covers their spread and the widest of their own. Times are
/// those in networks where the device's cache is known.
MeasuredOperations measured_operations(std::span<const OperationRow> rows,
                                       double cache_bytes = std::numeric_limits<double>::quiet_NaN());

}  // namespace joulecast
