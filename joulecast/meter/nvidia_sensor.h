#pragma once

namespace joulecast {

/// Systematic error of the power sensors on NVIDIA's boards, as a share of the value: the same for every reading of one
/// card. NVIDIA states +-5 % for early boards (reference of NVML, nvmlDeviceGetPowerUsage); Yang et al. (SC24,
/// arXiv:2312.02741) held over 70 cards against an outside meter and found errors in proportion to the power, about 5
/// %.
inline constexpr double nvidia_sensor_gain_error = 0.05;

/// Seconds in which the sensor renews its value, until calibration has seen it: what the energy counter takes from
/// Volta to Hopper, and a bound for power.
inline constexpr double nvidia_sensor_period_s = 0.1;

}  // namespace joulecast
