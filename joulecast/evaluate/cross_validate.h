#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/evaluate/accuracy.h"
#include "joulecast/evaluate/baseline_networks.h"
#include "joulecast/evaluate/composition.h"
#include "joulecast/evaluate/network_curves.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/train/network_ratios.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// Called with (done, all) after each training, for a progress line.
using Progress = std::function<void(std::size_t, std::size_t)>;

/// What to throw where no fold has rows on both sides.
Error too_few_to_split(const Device& device);

struct ValidationSettings {
    std::size_t folds = 5;
    bool is_one_test_set = false;  ///< validate_operations() holds out the first fold alone
    bool grouped = true;           ///< false: rows at random, which leaks
    /// To score beside each other, by their names; absent in it: joulecast's own choice, called "joulecast". An empty
    /// list: the learner of `training` alone, or the choice, called "joulecast", too.
    std::vector<std::optional<Learner>> learners;
    /// Methods to score beside ours, fitted to the same parts; of whole networks where these are left out.
    std::vector<const Baseline*> baselines;
    std::vector<const NetworkBaseline*> network_baselines;
    bool drop_outliers = false;  ///< from the training rows of each part (train/outliers.h), never from the tested
    TrainSettings training;
    Progress progress;
    /// Called after each part with the training rows that were dropped, and all there were.
    Progress dropped;
};

/// Every row forecast by models that saw none of its fold.
std::vector<OutOfFoldRow> validate_operations(const Device& device, const OperatingPoint& setting,
                                              std::span<const TrainingRow> rows, const ValidationSettings& settings);

/// Every row forecast by a predictor as it is.
std::vector<OutOfFoldRow> score_predictor(const DeviceModel& device, std::span<const Feature* const> columns,
                                          std::span<const TrainingRow> rows);

/// A measured network against its forecast.
struct NetworkAccuracy {
    std::string network;
    std::string device;
    std::map<std::string, std::int64_t> symbols;
    Mode mode = Mode::inference;
    std::string precision;
    std::string engine;
    Host host = Host::cpp;  ///< it was measured from, and is forecast for
    /// What was asked for; NaN: the device's own. Where another program had set the clock, that.
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double power_limit_w = std::numeric_limits<double>::quiet_NaN();
    double real_sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();  ///< as read while it was measured
    double predicted_sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    /// `recommend` chooses no clock below it; NaN where the device has none.
    double lowest_chosen_mhz = std::numeric_limits<double>::quiet_NaN();
    double measured_power_w = std::numeric_limits<double>::quiet_NaN();
    Estimate<Watts> predicted_power;
    double measured_time_s = 0;
    Estimate<Seconds> predicted_time;
    /// Of measured operations; NaN where too few were, or from another host than the network.
    double summed_time_s = std::numeric_limits<double>::quiet_NaN();
    double measured_energy_j = std::numeric_limits<double>::quiet_NaN();
    Estimate<Joules> predicted_energy;
    double summed_energy_j = std::numeric_limits<double>::quiet_NaN();
    double measured_share = 0;  ///< of summed time that was measured, the rest being calls of views
    double measured_peak_bytes = std::numeric_limits<double>::quiet_NaN();
    double predicted_peak_bytes = std::numeric_limits<double>::quiet_NaN();
    /// By the memory plan alone: no scratch that was measured, or forecast from measurements.
    double planned_peak_bytes = std::numeric_limits<double>::quiet_NaN();
    double resident_bytes = std::numeric_limits<double>::quiet_NaN();  ///< parameters, buffers and inputs
    /// Of the whole memory, that of the inference (physics/sponner_bounds.h).
    double sponner_optimistic_bytes = std::numeric_limits<double>::quiet_NaN();
    double sponner_pessimistic_bytes = std::numeric_limits<double>::quiet_NaN();
    bool inside_interval = false;                ///< of time
    std::optional<bool> energy_inside_interval;  ///< absent without a measured or a forecast energy
};

struct NetworkValidation {
    std::vector<NetworkAccuracy> networks;
    std::vector<OutOfFoldRow> operations;  ///< of each network while it was out
    std::vector<BaselineNetwork> baselines;
    std::vector<CompositionSample> compositions;  ///< of every network, for compare_compositions()
    std::vector<NetworkRatio> ratios;             ///< of those measured at two clocks or more
    std::vector<NetworkCurve> curves;             ///< of the same
};

/// Each network in turn, at all its batches, modes and precisions: no row in the group of any of its operations is
/// trained on, not even those it shares, and its own measurements calibrate nothing. Published methods know no host:
/// they see the networks measured from that of the operations.
NetworkValidation validate_networks(const Device& device, const OperatingPoint& setting,
                                    std::span<const TrainingRow> rows, std::span<const TrainingNetwork> networks,
                                    const MeasuredOperations& measured, const ValidationSettings& settings);

/// Each clock in turn that operations were measured at: operations and networks at it are forecast by what was measured
/// at the others. Nothing for rows at one clock.
NetworkValidation leave_clocks_out(const Device& device, const OperatingPoint& setting,
                                   std::span<const TrainingRow> rows, std::span<const TrainingNetwork> networks,
                                   const MeasuredOperations& measured, const ValidationSettings& settings);

/// The rows that a predictor can be scored with: over clocks those whose clock is known, else those that were measured
/// at its clock. `left_out` is how many others there are.
std::vector<TrainingRow> rows_at_clocks_of(const DeviceModel& device, std::span<const TrainingRow> rows);

/// The point that a network is forecast for: as asked, or as another program had set it.
OperatingPoint point_of(const DeviceModel& device, const NetworkForecast& at_highest,
                        const NetworkMeasurement& network);

/// Every network forecast by a predictor as it is, at the clocks and limits that it was measured at.
NetworkValidation score_networks(const DeviceModel& device, std::span<const Feature* const> columns,
                                 std::span<const TrainingNetwork> networks, const MeasuredOperations& measured);

}  // namespace joulecast
