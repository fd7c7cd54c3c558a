#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/device/idle_point.h"
#include "joulecast/physics/clock_residual.h"
#include "joulecast/physics/shared_learned_clocks.h"

namespace joulecast {

/// Standard deviations of log(forecast / measured) for a clock ratio of e between the clock asked for and the one that
/// the forecast starts from. They grow in proportion to clock_distance().
struct ClockSpread {
    double time = 0;
    double power = 0;
    double energy = 0;
    friend bool operator==(const ClockSpread&, const ClockSpread&) = default;
};

/// How a device's time and power follow its clocks. x below is the core clock over `highest_mhz`, y the memory clock
/// over `memory_mhz`. docs/clocks-model.md tells where forms and numbers come from.
struct ClockParameters {
    double highest_mhz = std::numeric_limits<double>::quiet_NaN();
    double lowest_mhz = std::numeric_limits<double>::quiet_NaN();
    double step_mhz = 15;  ///< between the clocks that can be asked for
    double memory_mhz = std::numeric_limits<double>::quiet_NaN();

    double knee = 0.70;           ///< x up to which the core's voltage is at its lowest
    double slope = 0.80;          ///< of the voltage above the knee
    double bend = 1.5;            ///< power by which the voltage rises there; 1: along a line
    double still_w = 0;           ///< static power whatever the clock, at the lowest voltage
    double clocked_w = 0;         ///< and that which grows with x
    double memory_w = 0;          ///< part of static power that goes down with y
    double bandwidth_knee = 0.5;  ///< x below which the chip's own network, not its memory, limits bytes
    double steady_share = 0.15;   ///< H: of dynamic power, what is drawn for time rather than for work
    /// C: of dynamic power, what kernels draw while they run, in step with the clock, whatever they wait for. In place
    /// of H where power is of the physical model, which has it so; never in a file.
    double running_share = 0;
    std::vector<IdlePoint> idle;  ///< by clock; where there are some, they stand in place of the static power's form
    std::vector<ClockResidual> residuals;  ///< what measured workloads did otherwise than the forms tell
    SharedLearnedClocks learned;           ///< what trees learned of measured workloads; empty: nothing
    ClockSpread spread;
    std::int64_t workloads = 0;  ///< measured at several clocks that knee and slope were fitted to; 0: by architecture

    friend bool operator==(const ClockParameters&, const ClockParameters&) = default;
};

/// By architecture and data sheet: knee and slope of Volta and newer 0.70 and 0.80, of older ones 0.82 and 0.75 (fitted
/// V100 0.68/0.61, RTX 8000 0.61/0.61, A100 0.67/0.92, P100 0.81/0.80, GTX Titan X 0.83/0.65); static power 0.12 + 0.03
/// x of TDP (idle power of A100 and H100 over their clocks), 0.27 + 0.03 x of graphics cards before Volta.
ClockParameters default_clock_parameters(const Device& device);

/// "max_clock_mhz, tdp_w": what the sheet lacks for clocks; "clocks of a CPU" for one. Empty where nothing is missing.
std::string missing_for_clocks(const Device& device);

/// The clocks that the device can be asked for, ascending, in MHz: those that its driver told, else steps and lowest
/// clock that drivers of the architecture list (210 ... 1410 by 15 MHz on A100, 135 ... 1380 by 7.5 MHz on V100); empty
/// for a device without clocks.
std::vector<double> clock_table_mhz(const Device& device);

/// No choice of clock goes below (knee - 0.10): there the voltage is flat, so nothing is saved, and what is forecast of
/// networks that wait for their host is noise. MHz.
double lowest_chosen_mhz(const ClockParameters& parameters);

/// Core voltage over its lowest: measured where `idle` tells it, else v(x) = 1 + slope (1 - knee) (z / (1 - knee))^1.5,
/// z = 0.015 softplus((x - knee) / 0.015).
double relative_voltage(const ClockParameters& parameters, double x);

/// Power of the idle device with its context alive: the measured curve, else (still_w + clocked_w x) v^1.25; less
/// memory_w (1 - y) of what its memory draws at a lower clock. Watts.
double static_w(const ClockParameters& parameters, double x, double y = 1);

/// A kernel's time at x = y = 1 and unlimited by the other: what its arithmetic takes, its bytes, and what neither
/// explains (the latency of starting and of few threads): the part that follows the core clock, and the one that
/// follows none. Seconds, or any other unit.
struct KernelTime {
    double compute = 0;
    double memory = 0;
    double latency = 0;
    double steady = 0;

    friend KernelTime operator*(double factor, const KernelTime& kernel) {
        return {factor * kernel.compute, factor * kernel.memory, factor * kernel.latency, factor * kernel.steady};
    }
};

/// t(x, y) = [(compute / x)^3 + (memory m)^3]^(1/3) + latency / x + steady, m = (y^-16 + (x_b / x)^16)^(1/16): bytes
/// come as fast as the slower of memory and the network on the chip lets them.
double kernel_time(const KernelTime& kernel, const ClockParameters& parameters, double x, double y = 1);

/// m of kernel_time(): how many times as long bytes take at those clocks; the same for all kernels.
double bytes_slowdown(const ClockParameters& parameters, double x, double y);

/// The balance of a workload of which only that is known: s is the share of a compute-bound kernel in the cubes.
KernelTime of_compute_share(double share);

/// A workload at the clock where it was measured, or forecast.
struct ClockedPoint {
    double x = 1;
    double y = 1;
    double time_s = 0;
    double power_w = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not known
};

/// What tells a workload apart from others, beside its kernels.
struct WorkloadTraits {
    std::string name;  ///< as it was measured; empty: not known
    /// Bytes that its memory moved over what it could have moved, at the known point, 0 to 1; NaN: not known.
    double memory_active = std::numeric_limits<double>::quiet_NaN();
    friend bool operator==(const WorkloadTraits&, const WorkloadTraits&) = default;
};

class LearnedCurve;

/// How far two points are from each other, in which intervals widen: the root of the squared logarithms of the ratios
/// of both clocks.
double clock_distance(double x, double y, const ClockedPoint& from);

/// Time and power of one workload over the clocks, from one point of the curve:
///
///     T(x) = T0 overlapped(host, device(x)) / overlapped(host, device(x0)), device the sum of its kernels
///     P(x) = S(x) + e (v / v0)^2 [(1 - H) T0 / T + H],   e = max(P0 - S(x0), 0.02 P0)
///
/// Dynamic energy per unit of work is constant below the voltage's knee and rises with its square above. host and
/// kernels are relative to each other only. What measured workloads did otherwise (`residuals`) multiplies the device's
/// time and the power, relative to the known point; then both move by a share towards what trees say of workloads that
/// measured alike (`learned`, LearnedCurve).
class WorkloadCurve {
  public:
    WorkloadCurve(ClockParameters parameters, std::vector<KernelTime> kernels, double host, ClockedPoint known,
                  WorkloadTraits traits = {});

    double time_s(double x, double y = 1) const;
    /// Sum of the kernels over that at the known point.
    double device_ratio(double x, double y = 1) const;
    double power_w(double x, double y = 1) const;  ///< NaN where the known point has none; no limit holds it
    double energy_j(double x, double y = 1) const { return time_s(x, y) * power_w(x, y); }
    /// The highest x up to `asked` whose power keeps the limit, to 1e-6, but not below the lowest clock. Power rises
    /// with the clock.
    double within_limit(double asked, double limit_w, double y = 1) const;

    /// Of the kernels' time without latency, that of kernels whose arithmetic takes longer there than their bytes; NaN
    /// where there are none.
    double compute_share(double x, double y = 1) const;

    const ClockParameters& parameters() const { return parameters_; }
    const ClockedPoint& known() const { return known_; }

  private:
    double device(double x, double y) const;
    double untaught_device(double x, double y) const;
    double untaught_power_w(double x, double y) const;

    ClockParameters parameters_;
    std::vector<KernelTime> kernels_;
    double host_;
    ClockedPoint known_;
    double known_device_ = 0;
    double known_voltage_ = 1;
    double dynamic_w_ = 0;                         ///< e
    std::shared_ptr<const LearnedCurve> learned_;  ///< null: nothing was learned
};

}  // namespace joulecast
