#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/graph/graph.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

struct TrainSettings {
    std::optional<Learner> learner;  ///< absent: per family the one with the smallest held-out error
    std::size_t trees = 40;          ///< per forest of trees that stand alone; a family's time has two
    std::size_t folds = 5;           ///< grouped, for intervals and choices
    std::uint64_t seed = 1;
    unsigned threads = 0;
    /// Models over other devices: what a device of which few operations were measured starts from (keep_operations.h).
    /// Null: every device has models of its own.
    std::shared_ptr<const std::vector<PooledModel>> others = nullptr;
    /// The machine's pace ranged so far while rows and networks were measured that neither is the other's measure.
    bool drifted = false;
};

/// A measured row ready for training.
struct TrainingRow {
    PreparedOperation operation;
    std::string group;  ///< operation_group(): rows that must not be split between training and test
    double time_s = 0;  ///< of a call within a network: in_network()
    double peak_memory_bytes = std::numeric_limits<double>::quiet_NaN();
    double power_w = std::numeric_limits<double>::quiet_NaN();
    double time_half_width_s = std::numeric_limits<double>::quiet_NaN();   ///< of 95 % intervals; NaN: not known
    double power_half_width_w = std::numeric_limits<double>::quiet_NaN();  ///< the same
    /// Seconds of the calls whose power was measured where they are others than time_s, and the share of their bytes
    /// that a call within a network finds in the cache. NaN: `power_w` is that of a call within a network.
    double metered_s = std::numeric_limits<double>::quiet_NaN();
    double kept_share = 0;
    double idle_power_w = std::numeric_limits<double>::quiet_NaN();
    /// Clocks that it ran at, as read, else as asked for. NaN: nobody knows.
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    /// What was asked for; NaN: the device's own.
    double asked_sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double asked_memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double asked_power_limit_w = std::numeric_limits<double>::quiet_NaN();
    /// What the host takes to issue the call without waiting; NaN: not measured, or no device of its own.
    double issue_s = std::numeric_limits<double>::quiet_NaN();
    Host host = Host::python;  ///< that issued it
};

/// Issuing was timed apart, as workers on a GPU do: the row's time is all of it the kernel's.
inline bool is_of_device(const TrainingRow& row) {
    return row.issue_s > 0;
}

/// The forecast of what the row timed: where issuing was timed apart, of the kernel without its launch.
Estimate<Seconds> as_timed(const TrainingRow& row, const OperationForecast& forecast);

/// What was measured of the metric in its unit; NaN where it was not.
double measured_value(const TrainingRow& row, Metric metric);

/// A measured network with its graph at the measured symbols, precision and mode.
struct TrainingNetwork {
    Graph graph;
    NetworkMeasurement measurement;
    std::string framework = {};  ///< of who measured it, with its version: what its kernels hold for
};

/// What stays together in folds: the signature with gradients cleared, floating types as float32, out of place, and
/// without fractions (eps) and the state of batch norm and dropout. So one shape in inference and training, in float32
/// and bfloat16, in place or not, measured in several sessions, is one group.
std::string operation_group(const Operation& operation);
/// Those of all that a network calls.
std::set<std::string> operation_groups(const Graph& graph);
/// The fold (0 .. folds-1) of each row, equal groups in one: group_folds() of learn/folds.h.
std::vector<std::size_t> group_folds(std::span<const TrainingRow> rows, std::size_t folds, std::uint64_t seed);

/// Threads, math, engine and host: what one model holds for, since each changes every time.
bool same_setting(const OperatingPoint& a, const OperatingPoint& b);
/// The settings of usable rows, the most frequent first: of each the point of the row in the middle by its clock.
std::vector<OperatingPoint> settings_of(std::span<const OperationRow> rows);

/// Usable rows at that setting, in order.
std::vector<TrainingRow> training_rows_at(std::span<const OperationRow> rows, const Device& device,
                                          const OperatingPoint& setting);
/// Those at the most frequent setting, which `setting` receives. Throws Error without any usable row.
std::vector<TrainingRow> training_rows(std::span<const OperationRow> rows, const Device& device,
                                       OperatingPoint& setting);

/// A row's time and power as forecast by models that saw no row of its group.
struct HeldOutTime {
    double log_value = std::numeric_limits<double>::quiet_NaN();  ///< NaN where no model could be fitted
    double half_width = 0;                                        ///< of the 90 % interval, in log
    double log_watts = std::numeric_limits<double>::quiet_NaN();
    double watts_half_width = 0;
};

/// Laws, models, intervals; networks (may be empty) calibrate the correction from operations to networks. Where the
/// settings have models over other devices that do about as well or better, adjusted to the rows, it is one of these.
DeviceModel train_device(const Device& device, const OperatingPoint& setting, std::span<const TrainingRow> rows,
                         std::span<const TrainingNetwork> networks, const TrainSettings& settings);

/// The columns of a new predictor: every feature.
std::vector<const Feature*> all_columns();
/// A predictor of all of them that covers no device yet.
Predictor empty_predictor();

/// What is known of where rows come from.
Origin origin_of(std::span<const OperationRow> rows, const std::string& program, const std::string& created);

}  // namespace joulecast
