#pragma once

#include <string>

#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/model/predictor.h"
#include "joulecast/physics/physical_power.h"

namespace joulecast {

/// The clock of the point over the highest; 1 where it is not known: the default clock.
double relative_clock(const Device& device, const OperatingPoint& point);
/// That of the model's setting.
double relative_clock(const DeviceModel& device);

/// Whether its power comes from the data sheet: a GPU on which none was measured and whose sheet has the figures.
bool has_physical_power(const DeviceModel& device);

/// The facts measured, else those that the data sheet gives. known() false: nobody can tell, and why_no_power says why.
PowerFacts power_facts_of(const DeviceModel& device);
/// "no power measured on this device, and its data sheet lacks tdp_w".
std::string why_no_power(const DeviceModel& device);

/// What the device does while a call of `seconds` runs again and again, for `kernel_seconds` of which a kernel runs;
/// the rest is its launch.
Activity activity(const PreparedOperation& operation, const Device& device, Math math, double seconds,
                  double kernel_seconds);

struct PhysicalWatts {
    Estimate<Watts> power;
    double unlimited_w = 0;  ///< if no limit held it
};
/// Power of such a call by the physical model; of a view the static power, and up to what a busy device draws.
PhysicalWatts physical_watts(const DeviceModel& device, const PreparedOperation& operation, double seconds,
                             double kernel_seconds);

}  // namespace joulecast
