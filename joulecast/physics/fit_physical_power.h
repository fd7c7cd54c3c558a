#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/physics/physical_power.h"

namespace joulecast {

/// A measured power.
struct KernelPowerSample {
    Device device;
    Activity activity;
    double relative_clock = 1;
    double limit_w = std::numeric_limits<double>::quiet_NaN();  ///< NaN: the TDP
    double watts = 0;
};

/// Non-negative least squares on relative error, every chip counting as one however many cards and rows it has. A row
/// at the limit says only that the device would draw at least that much: it counts where the model says less. The half
/// width is that of chips left out in turn (left_out_watts, half_width_90). Throws Error for fewer than three chips, or
/// a device that lacks figures.
PhysicalPower fit_physical_power(std::span<const KernelPowerSample> samples);

/// The same without its half width, which takes a fit for each chip.
PhysicalPower fit_physical_power_alone(std::span<const KernelPowerSample> samples);

/// Each sample's watts by the model that was fitted to the devices with other chips (same_chip).
std::vector<double> left_out_watts(std::span<const KernelPowerSample> samples);

/// How many different chips the devices have.
std::size_t count_chips(std::span<const KernelPowerSample> samples);

/// Those of devices with other chips than that one's.
std::vector<KernelPowerSample> without_chip_of(const Device& device, std::span<const KernelPowerSample> samples);

/// Half of the 90 % interval of log(watts) on a device not seen, by the log errors of each device: Student's t with as
/// many degrees of freedom as there are devices but one, times the deviation of a new device's bias about zero and of a
/// row about that. Few devices: wide.
double half_width_90(std::span<const std::vector<double>> devices);

}  // namespace joulecast
