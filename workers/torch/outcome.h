#pragma once

#include <functional>
#include <string>

#include "joulecast/measure/measurement.h"

namespace joulecast::torch_worker {

/// How a trial ended that threw, and with which message.
struct Ending {
    Outcome outcome = Outcome::ok;
    std::string message;
};

/// Runs a trial; whatever it throws becomes its ending.
Ending run_trial(const std::function<void()>& trial);

/// Puts the ending of a trial that failed into the measurement: what was timed before is no result.
template <class AnyMeasurement>
void conclude(const Ending& ending, AnyMeasurement& measurement) {
    if (ending.outcome == Outcome::ok) return;
    measurement.outcome = ending.outcome;
    measurement.message = ending.message;
    measurement.time = {};
    measurement.forward.reset();
    measurement.issue.reset();
    measurement.energy.reset();
    measurement.energy_missing_reason = "the operation could not be timed";
    measurement.block_s.clear();
}

}  // namespace joulecast::torch_worker
