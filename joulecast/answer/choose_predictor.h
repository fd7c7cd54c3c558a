#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "joulecast/model/predictor.h"

namespace joulecast {

/// Where forecasts come from: a predictor at hand, a file, or, without either, the shipped predictors.
struct PredictorSource {
    std::string file;
    std::shared_ptr<const Predictor> at_hand;
};

/// A predictor with the device of it that answers a question.
struct ChosenPredictor {
    Predictor predictor;
    std::size_t device = 0;       ///< index into predictor.devices
    std::string path;             ///< empty for one that was at hand
    std::string note;             ///< what the user must know, e.g. that it was measured on another CPU; may be empty
    std::string short_note = {};  ///< the same in a few words, where the note is long

    const DeviceModel& model() const { return predictor.devices[device]; }
    /// The device's model of that engine whose float32 products are computed so, that of the host where there is one;
    /// nullptr where none was measured.
    const DeviceModel* model_with(Math math, Host host, const std::string& engine) const;
    /// Engines that the device was measured with, torch first.
    std::vector<std::string> engines() const;
};

/// The first shipped predictor with a model over devices of that kind; absent where there is none.
std::optional<std::string> shipped_over_others(Device::Kind kind);

/// As of choose_device(); without a file, among the shipped predictors, of which those that were measured with all of
/// these engines come before the others. `stored` are the devices of a database. Throws Error naming the devices that
/// are covered, and UsageError for one that nobody knows, naming those near it.
ChosenPredictor choose_predictor(const std::string& device, const PredictorSource& source,
                                 std::span<const Device> stored = {}, std::span<const std::string> engines = {});

}  // namespace joulecast
