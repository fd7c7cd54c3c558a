#pragma once

#include <string>

#include "joulecast/model/predictor.h"

namespace joulecast {

/// How much longer than usual a device takes now.
struct PaceNow {
    double factor = 1;  ///< 1.1: a tenth longer
    double now_s = 0;   ///< of the reference operation
};

/// Asks a worker (empty: joulecast's own) for the operation that the pace of the model's device is told by, at the
/// model's setting: the median of three repeats. Throws UsageError for a model whose device was not followed, Error for
/// a worker that measures another device, or not this operation.
PaceNow pace_now(const DeviceModel& model, const std::string& worker);

/// "12 % more time" of 1.12, "5 % less time" of 0.95.
std::string time_compared(double factor);

/// "cpu-x takes 12 % more time now than when it was measured (reference operation 1.23 ms, usually 1.10 ms); forecasts
/// follow"
std::string pace_text(const DeviceModel& model, const PaceNow& pace);

}  // namespace joulecast
