#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/pace.h"
#include "joulecast/train/measured_networks.h"
#include "joulecast/train/train.h"

namespace joulecast::cli {

/// What a database holds of one device at one setting (threads, math, host), ready for training and validation.
/// Networks are those of every host, less those of a host that has a setting of its own here.
struct MeasuredRows {
    Device device;
    OperatingPoint setting;
    std::vector<OperationRow> rows;  ///< as stored, for provenance
    std::vector<TrainingRow> operations;
    std::vector<TrainingNetwork> networks;
    MeasuredOperations measured;
    double pace_range = std::numeric_limits<double>::quiet_NaN();  ///< of joulecast/dataset/pace.h
    std::optional<PaceReference> pace_reference;  ///< where the pace was followed while all of this was measured

    /// The machine was no steady one while all of this was measured.
    bool drifted() const { return pace_range > steady_pace_range; }
};

/// The settings of a device's models, by device id.
using SettingsOf = std::function<std::vector<OperatingPoint>(const std::string&)>;

/// Fewer usable operations at a setting are no model of their own; they are left out and counted on standard error.
inline constexpr std::size_t least_rows_of_setting = 30;

/// The devices asked for, or all that have operations ("cpu" is this machine); of each device every setting with enough
/// rows, the one with most rows first. Networks whose graph is not found are named on standard error. Throws Error for
/// a device without usable rows. With `settings_of`, those settings alone, and a device of which only whole networks
/// were measured will do too. Times are put to one pace (joulecast/dataset/pace.h): their own usual one, or, said on
/// standard error, that of the database `paced_by`.
std::vector<MeasuredRows> measured_rows(const Dataset& dataset, const std::vector<std::string>& devices,
                                        const SettingsOf& settings_of = nullptr, const Dataset* paced_by = nullptr);

/// Says on standard error of which rows these learners will take a sample only.
void tell_samples(const MeasuredRows& rows, std::span<const Learner> learners);

}  // namespace joulecast::cli
