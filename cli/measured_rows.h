#pragma once

#include <functional>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/predict/measured_networks.h"
#include "joulecast/predict/train.h"

namespace joulecast::cli {

/// What a database holds of one device, ready for training and validation.
struct MeasuredRows {
    Device device;
    OperatingPoint setting;
    std::vector<OperationRow> rows;  ///< as stored, for provenance
    std::vector<TrainingRow> operations;
    std::vector<TrainingNetwork> networks;
    MeasuredOperations measured;
};

/// The setting of a device's model, by device id.
using SettingOf = std::function<OperatingPoint(const std::string&)>;

/// The devices asked for, or all that have operations ("cpu" is this machine). Networks whose graph is not found are
/// named on standard error. Throws Error for a device without usable rows. With `setting_of`, a device of which only
/// whole networks were measured will do too: the function then names the setting at which they count.
std::vector<MeasuredRows> measured_rows(const Dataset& dataset, const std::vector<std::string>& devices,
                                        const SettingOf& setting_of = nullptr);

}  // namespace joulecast::cli
