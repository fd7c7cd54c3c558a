#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/physics/clock_curve.h"

namespace joulecast {

/// A kernel of a workload's list, by its counts and the data sheet's rates at the highest clocks.
struct ListedKernel {
    double flop_s = 0;
    double byte_s = 0;
    double tiles = 0;              ///< of 128 x 128 that a matrix product computes; 0: no product
    double depth = 0;              ///< products summed for each of its elements
    bool on_matrix_units = false;  ///< whose rate flop_s is taken at
    bool is_product = false;       ///< matrix product, convolution or attention
    double count = 1;              ///< calls
};

/// Of a kernel's latency, what follows the clock; fitted with KernelLevels.
inline constexpr double clocked_share_of_latency = 0.7;

/// What kernels of networks reach of the data sheet. The numbers are those fitted to networks on A100 at 900 MHz, each
/// model left out in turn (EnergAIzer's measurements, MIT licence); the ramp, which is not fitted to a device, is
/// between what networks on A10 and on A100 tell (119 to 230).
struct KernelLevels {
    double matrix = 0.75;        ///< of matrix units' peak
    double vector = 0.87;        ///< of the vector units'
    double bandwidth = 0.67;     ///< of the memory's
    double latency_s = 10.2e-6;  ///< of a kernel
    double host_s = 32.7e-6;     ///< to issue one, from Python
    double waves = 0.11;         ///< a product of t tiles keeps t / (t + waves * units) of the device busy
    double ramp = 130;           ///< and of depth k each unit for k / (k + ramp) of its time
};

/// What draws power while a workload runs, in watts at the highest clock and the voltage of it: for all of the
/// arithmetic's peak, all of the bandwidth, and the shares of the time that kernels of products and others take.
struct PowerLevels {
    double flop_w = 31;
    double byte_w = 45;
    double product_w = 94;
    double other_w = 100;
};

/// The device's kernels with these levels, in seconds at the highest clocks.
std::vector<KernelTime> kernel_times(std::span<const ListedKernel> kernels, const KernelLevels& levels, int units);
/// What the host needs to issue them.
double issuing_s(std::span<const ListedKernel> kernels, const KernelLevels& levels);
/// (device^8 + host^8)^(1/8) at those clocks.
double workload_s(std::span<const ListedKernel> kernels, const KernelLevels& levels, int units,
                  const ClockParameters& parameters, double x = 1, double y = 1);

/// Static power, and above it v^2 times arithmetic and bytes by their rates and kernels by x times their share of the
/// time; no limit holds it. Watts.
double workload_w(std::span<const ListedKernel> kernels, const KernelLevels& levels, const PowerLevels& power,
                  int units, const ClockParameters& parameters, double x = 1, double y = 1);

/// A workload of known kernels, measured at one point.
struct ListedWorkload {
    std::string group;  ///< workloads of one group err alike
    std::vector<ListedKernel> kernels;
    ClockedPoint point;
};

/// Nelder-Mead on soft-L1 of log(time), with a pull to `start` that a few workloads outweigh.
KernelLevels fit_kernel_levels(const KernelLevels& start, std::span<const ListedWorkload> workloads, int units,
                               const ClockParameters& parameters);

/// Non-negative least squares on the relative error of power, at the measured times. `otherwise`, scaled to what the
/// workloads draw, where fewer than six have a power, or none.
PowerLevels fit_power_levels(const PowerLevels& otherwise, std::span<const ListedWorkload> workloads,
                             const KernelLevels& levels, int units, const ClockParameters& parameters);

/// Default levels of power for a device: those of an A100, in proportion to TDP.
PowerLevels default_power_levels(const Device& device);

}  // namespace joulecast
