#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/model/predictor.h"

namespace joulecast::cli {

/// A predictor with the device of it that answers a request.
struct ChosenPredictor {
    Predictor predictor;
    std::size_t device = 0;  ///< index into predictor.devices
    std::string path;
    std::string note;  ///< what the user must know, e.g. that it was measured on another CPU; may be empty

    const DeviceModel& model() const { return predictor.devices[device]; }
    /// The device's model whose float32 products are computed so, that of the host where there is one; nullptr where
    /// none was measured.
    const DeviceModel* model_with(Math math, Host host) const;
};

/// The file given, or the shipped predictor that covers the device; else one with a model over devices of its kind:
/// then the device is known as of device_argument(), and the note says so. "cpu" is
/// this machine; where no predictor was measured on exactly this CPU, the first that covers some CPU stands in and the
/// note says which. `stored` are the devices of a database. Throws Error naming the devices that are covered, and
/// UsageError for one that nobody knows, naming those near it.
ChosenPredictor choose_predictor(const std::string& device, const std::string& file,
                                 std::span<const Device> stored = {});

}  // namespace joulecast::cli
