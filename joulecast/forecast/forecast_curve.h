#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/relative_cost.h"
#include "joulecast/model/predictor.h"
#include "joulecast/physics/clock_curve.h"

namespace joulecast {

/// Why nothing can be told of the device at other clocks; empty where something can: its data sheet tells clocks
/// (missing_for_clocks()), and a published method was trained at several of them.
std::string why_no_clocks(const DeviceModel& device);

/// Throws UsageError for a power limit where a published method forecasts, which knows none.
void check_limit(const DeviceModel& device, const OperatingPoint& asked);

/// How the device's time and power follow its clocks: fitted where networks were measured at several clocks, else by
/// architecture and data sheet, with the idle power of the model. Throws UsageError for a device without clocks (a CPU,
/// a data sheet without highest clock).
ClockParameters clock_parameters(const DeviceModel& device);

/// What a network takes at one clock and power limit of its device.
struct PointForecast {
    OperatingPoint asked;  ///< clocks and limit that were asked for; NaN: the device's own
    OperatingPoint real;   ///< the clocks that it runs at: a power limit may leave less of the core's than was asked
    Estimate<Seconds> time;
    Estimate<Seconds> device_time;
    Estimate<Seconds> host_time;  ///< the same at every clock of the device
    Estimate<Joules> energy;      ///< unknown() where the forecast has none
    Estimate<Watts> power;
    double idle_energy_j = std::numeric_limits<double>::quiet_NaN();
    double dynamic_energy_j = std::numeric_limits<double>::quiet_NaN();
    Bound limited_by = Bound::device;
};

/// A network's forecast, made at one clock, over the clocks, memory clocks and power limits of its device
/// (physics/clock_curve.h). Intervals widen with the distance from the clock of the forecast, and more where no network
/// was measured at several clocks.
class ForecastCurve {
  public:
    /// Throws UsageError as clock_parameters().
    ForecastCurve(const NetworkForecast& forecast, const DeviceModel& device);

    /// At the clocks and the limit of `asked`, of which NaN are those of the forecast; all else of it is ignored.
    /// Throws UsageError, telling the range, for a clock or limit that the device does not have.
    PointForecast at(const OperatingPoint& asked) const;

    /// One point of at() over another one. Over clocks its intervals are those that held-out ratios ask for
    /// (ratio_spread.h), of a model of one clock those of the curve between the two (docs/clocks-model.md); and never
    /// wider than if both points erred on their own. Where a power limit holds one of them, the clocks that were asked
    /// for count too: nobody knows to the last MHz what the limit leaves.
    RelativeCost relative(const PointForecast& at, const PointForecast& to) const;
    /// Over the point that the device takes by itself: without a clock or a limit asked for.
    RelativeCost relative_to_default(const PointForecast& at) const;

    const WorkloadCurve& curve() const { return curve_; }

  private:
    /// A forecast of the network at other clocks, relative to the curve: logarithms.
    struct Anchor {
        double x = 1;
        double y = 1;
        double time = 0;
        double device = 0;
        double power = 0;
        double time_half_width = 0;  ///< of 90 % intervals
        double power_half_width = 0;
        double energy_half_width = 0;
    };

    /// Where the device runs: at the clocks asked for, as far as the limit allows.
    struct Reached {
        double x = 1;
        double y = 1;
        double limit_w = 0;
        double stretch = 1;  ///< at its lowest clock and still above the limit, the device stops and goes
        bool is_limited = false;
    };

    void check(const OperatingPoint& asked) const;
    void check_limits(double asked_w, const std::string& device) const;
    Reached reached(const OperatingPoint& asked) const;
    double asked_x(const OperatingPoint& asked) const;
    void set_energy(PointForecast& point, double x, double y, double stretch) const;
    void anchor(const NetworkForecast& forecast);
    /// Between the anchors on either side; all zero without any.
    Anchor at_anchors(double x, double y) const;
    /// How far from what is known; within the anchors nothing is.
    double distance(double x, double y) const;
    /// Between two points: of the clocks that run and, where a limit holds one, of those asked for.
    double distance(const PointForecast& a, const PointForecast& b) const;
    double power_w(double x, double y) const;
    double within_limit(double asked, double limit_w, double y) const;

    std::optional<RatioSpread> ratio_;  ///< of a model over clocks
    std::vector<Anchor> anchors_;       ///< of a model over clocks, by memory clock, then core clock
    PointForecast known_;
    double limit_w_;        ///< of the device where none is asked for; NaN: not known
    double asked_x_;        ///< of the forecast: what its power limit may have kept it from
    double least_limit_w_;  ///< that the driver takes; NaN: not told
    double most_limit_w_;
    WorkloadCurve curve_;
};

}  // namespace joulecast
