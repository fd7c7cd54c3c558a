#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "joulecast/device/device.h"
#include "joulecast/units/quantity.h"

namespace joulecast {

/// What a GPU does, on average over the time that its power is asked for. Each is a share between 0 and 1.
struct Activity {
    double flop_share = 0;    ///< arithmetic per second over the data sheet's peak (at the highest clock)
    double byte_share = 0;    ///< bytes per second over the memory's bandwidth
    double matrix_share = 0;  ///< of the time that kernels of matrix products, convolutions and attention run
    double other_share = 0;   ///< of the time that all other kernels run; the rest of the time no kernel does
    double tensor_share = 0;  ///< of the time that kernels of the former run on matrix units: part of matrix_share
};

/// A product that keeps the device busy: what large ones reach on B200, V100 and P100.
inline constexpr Activity busy_activity{
    .flop_share = 0.6, .byte_share = 0.1, .matrix_share = 1, .other_share = 0, .tensor_share = 1};

/// A GPU's power from its data sheet, where none was measured:
///
///     P = min(limit, S(x) + D v^2 [flop * flop_share + byte * byte_share
///             + x (matrix * matrix_share + tensor * tensor_share + other * other_share)])
///
/// S, static: the sheet's idle power, else still * TDP, times (0.8 + 0.2 x) v^1.25. D = sqrt(TDP * L) with the lanes'
/// demand L = 16 W for each TFLOP/s of fp32 on the vector units, 0.65 of that from 5 nm on: cards that could draw much
/// more than they may (A10, L4) are nearer to their limit than cards that could not (P100). x: clock over the highest;
/// v: voltage over that at the highest clock. docs/energy.md tells where the numbers come from.
struct PhysicalPower {
    double still = 0;  ///< static share of TDP, of devices whose sheet has no idle power
    double flop = 0;   ///< the others: shares of D
    double byte = 0;
    double matrix = 0;
    double other = 0;
    double tensor = 0;
    double half_width = 0;     ///< of the 90 % interval of log(watts), on a device that the fit has not seen
    std::int64_t devices = 0;  ///< fitted over: different chips
    std::int64_t rows = 0;

    friend bool operator==(const PhysicalPower&, const PhysicalPower&) = default;
};

/// Of the voltage over the clock. The slope is the mean of those of V100, RTX 8000 (0.61 each) and A100 (0.92).
constexpr double physical_knee = 0.70;
constexpr double physical_slope = 0.70;

/// The clocks between which the voltage is flat, and how it rises above: v(x) = 1 + slope (1 - knee) (z / (1 -
/// knee))^1.5, z = 0.015 softplus((x - knee) / 0.015), over v(1).
double relative_voltage(double relative_clock);

/// Of the dynamic power of a device that large products keep busy, the part that is drawn for time: x (...) above. With
/// the shipped numbers 0.70; of kernels that wait for memory it is 0.57.
double running_share(const PhysicalPower& model);

/// What holds the card: the limit that was set, else its TDP. Watts.
inline double limit_or_tdp_w(double limit_w, const Device& device) {
    return limit_w > 0 ? limit_w : device.tdp_w;
}

/// What the sheet lacks for these equations: "tdp_w, vector_flop_per_s_fp32"; empty where nothing is missing.
std::string missing_for_power(const Device& device);

/// D of the equations above, in watts; NaN where missing_for_power() names something.
double dynamic_scale_w(const Device& device);

/// S, in watts: the device on, its clock at x, no kernel running.
double static_w(const PhysicalPower& model, const Device& device, double relative_clock = 1);

/// P, in watts; `limit_w` NaN: the TDP. NaN where missing_for_power() names something.
double watts(const PhysicalPower& model, const Device& device, const Activity& activity,
             double limit_w = std::numeric_limits<double>::quiet_NaN(), double relative_clock = 1);

/// The same P if no limit held it, in W.
double unlimited_watts(const PhysicalPower& model, const Device& device, const Activity& activity,
                       double relative_clock = 1);

/// What a meter may say more or less than there is: NVML's gain error (docs/energy.md).
inline constexpr double meter_gain = 1.05;

/// P with its 90 % interval on a device that the fit has not seen. The half width is that of the power that no limit
/// holds, so what the device could well exceed lies surely near its limit; 5 % for the meter's gain come on top.
Estimate<Watts> watts_90(const PhysicalPower& model, const Device& device, const Activity& activity,
                         double limit_w = std::numeric_limits<double>::quiet_NaN(), double relative_clock = 1);
/// watts_90() of a power that is known as it were without a limit.
Estimate<Watts> held_90(const PhysicalPower& model, const Device& device, double unlimited_w, double limit_w);

/// The model that predictors without one of their own use, fitted by tools/fit_physical_power to published tables under
/// MIT, Apache and BSD licences and to our own measurements (docs/energy.md).
PhysicalPower shipped_physical_power();
/// The same, fitted without the rows of that device (id) and of others with its chip: for testing on it.
PhysicalPower shipped_physical_power_without(std::string_view device);

}  // namespace joulecast
