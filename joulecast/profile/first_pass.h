#pragma once

#include <optional>

#include "joulecast/dataset/dataset.h"
#include "joulecast/device/device.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

/// A sweep with a budget measures all operations shortly first. What is left of the budget then goes to those whose
/// error weighs most in the networks' time, by the recipe as it is (docs/method.md, "Budgets").

/// Seconds of timing for each operation where there are `seconds_each`, half of which the second pass is to have.
/// Absent where the recipe as it is takes no longer: everything is measured by it at once.
std::optional<double> first_pass_s(double seconds_each);
/// What measuring an operation in the first pass takes in all: tensors, warm-up, timing, memory.
double first_pass_cost_s(double time_s, Device::Kind kind);
/// Without the hot number and without energy, which take longest.
MeasureSettings first_pass_settings(MeasureSettings settings, double time_s);
/// A network is one of few, and decides how all sums are read: it gets a second at least.
MeasureSettings network_settings(MeasureSettings settings);

/// Measured in a first pass and worth measuring longer: the time has not settled, or its energy is wanted and missing.
bool is_rough(const Measurement& measurement, bool energy_wanted);
/// The row is of a session that timed shorter than the recipe does.
bool is_of_first_pass(const Provenance& provenance);
/// How far off a call may be, as one number that ranks: the half width, and where energy is missing a part of the time.
double error_s(const Measurement& measurement, bool energy_wanted);

}  // namespace joulecast
