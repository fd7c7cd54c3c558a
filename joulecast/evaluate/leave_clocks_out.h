#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/accuracy.h"
#include "joulecast/evaluate/clock_choice.h"
#include "joulecast/train/clock_sweeps.h"
#include "joulecast/units/quantity.h"

namespace joulecast {

struct ClockValidationSettings {
    std::size_t folds = 10;   ///< of models; as many as there are models, where they are fewer
    std::size_t trees = 100;  ///< of the thesis' forest
    std::uint64_t seed = 1;
    unsigned threads = 0;
};

/// One workload at one clock, by one way of forecasting it.
struct ClockForecast {
    std::string model;  ///< "joulecast", "joulecast_defaults", "joulecast_operations", "thesis_forest"
    std::string workload;
    std::string device;
    NetworkMeasurement network;  ///< mode, precision and the rest
    SweptRow row;
    double sm_clock_mhz = 0;    ///< that is forecast to run
    bool is_reference = false;  ///< known beforehand to all but joulecast_operations: no error is counted
    Estimate<Seconds> time;
    Estimate<Watts> power;
    Estimate<Joules> energy;
    /// Of a curve over clocks: how its intervals widen, and the lowest clock that it would choose.
    ClockSpread spread;
    double lowest_chosen_mhz = std::numeric_limits<double>::quiet_NaN();
};

struct ClockValidation {
    std::vector<ClockForecast> networks;
    std::vector<ClockRegret> regrets;
    std::int64_t swept = 0;   ///< workloads at two points or more
    std::int64_t listed = 0;  ///< workloads whose kernels are known
};

/// Forecasts each workload's other clocks, or power limits, from its highest one; everything else is learned from
/// workloads of other models on the same device:
///
///   joulecast             from time and power at the highest clock or limit; from the others the knee of the voltage,
///                         what a workload without a list of kernels may consist of, how programs under power limits
///                         work and wait, and intervals
///   joulecast_defaults    the same by the architecture's parameters, nothing from the others
///   joulecast_operations  from the list of kernels alone, levels of time and power from the others
///   thesis_forest         a random forest on seconds and watts over clock, memory clock, limit, and time and power at
///                         the highest clock, trained on the others
///
/// and how well each chooses a clock, beside rules: the maximum, the best constant one (of the others), 68 % of the
/// maximum. Choices are among the measured points at the highest memory clock.
ClockValidation validate_clocks(const Device& device, std::span<const ClockSweep> sweeps,
                                std::span<const IdlePoint> idle, const ClockValidationSettings& settings);

/// As rows of the table of accuracies: time, power and energy; family "network", a group for each model.
std::vector<OutOfFoldRow> out_of_fold_rows(std::span<const ClockForecast> forecasts);

}  // namespace joulecast
