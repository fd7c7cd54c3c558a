#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/features/dimensions.h"
#include "joulecast/predict/predictor.h"

namespace joulecast {

/// Seconds per call of a measurement, as forecasts count it.
double measured_seconds(const Measurement& measurement);
/// The same of a call within a network: what the call before has just written is still in the cache as far as it fits,
/// weights are not. Between the time of one set of tensors and that of sets that leave the cache, by the share of the
/// bytes that are weights or do not fit. In training, where gradients come long after what they need, on a CPU, where
/// no issuing stands beside the time, and without a hot time or a size of the cache it is measured_seconds().
double seconds_in_network(const Measurement& measurement, const Dimensions& dimensions, double cache_bytes);
/// Whether a row can be learned from: ok or unstable, with a positive time.
bool is_usable(const Measurement& measurement);

/// What was measured of one operation at one clock.
struct MeasuredAtClock {
    double sm_clock_mhz = 0;  ///< as read, else as asked for
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    Estimate<Seconds> time;
    Estimate<Watts> power;
};

/// What was measured of one operation; power unknown() where there was no meter.
struct MeasuredOperation {
    Estimate<Seconds> time;
    Estimate<Watts> power;
    std::vector<MeasuredAtClock> at_clocks = {};  ///< by clock, where clocks are known; `time` is of all of them
};

/// Measured on one device and setting, by signature: operations found here need no forecast.
using MeasuredOperations = std::map<std::string, MeasuredOperation>;

/// Watts while the operation or the network ran again and again; NaN where there was no meter.
double measured_watts(const Measurement& measurement);
double measured_watts(const NetworkMeasurement& measurement);
/// Joules of a run of the network; NaN where there was no meter.
double measured_joules(const NetworkMeasurement& measurement);

/// Several rows of one operation: their median; the interval covers their spread and the widest of their own. Times are
/// those in networks where the device's cache is known.
MeasuredOperations measured_operations(std::span<const OperationRow> rows,
                                       double cache_bytes = std::numeric_limits<double>::quiet_NaN());

}  // namespace joulecast
