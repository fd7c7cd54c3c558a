#pragma once

#include <span>

#include "joulecast/features/feature.h"
#include "joulecast/forecast/measured_operations.h"
#include "joulecast/model/predictor.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// What the calls of a network add up to.
struct SummedCalls {
    double time_s = 0;
    double energy_j = 0;        ///< NaN where a power is not known
    double measured_share = 0;  ///< of the time: calls that were measured
    bool is_of_device = false;  ///< issuing was timed apart: sums are of kernels, whoever issued them
};

/// Sum over the measured operations; what was not measured counts only if it is a view, at its overhead, for which the
/// device itself does nothing. Of kernels timed apart those that ran at a lower clock than the network are moved to its
/// clock by the device's curve: alone, again and again, a product holds a card at its power limit, which in a network
/// it shares with calls that draw little.
SummedCalls summed_calls(const TrainingNetwork& network, const DeviceModel& device,
                         std::span<const Feature* const> columns, const MeasuredOperations& measured);

}  // namespace joulecast
