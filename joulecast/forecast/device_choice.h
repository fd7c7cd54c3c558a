#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/model/jcp.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// What a predictor covers.
JcpCover cover_of(const Predictor& predictor);

/// Whether it has a device that was measured with all of these engines.
bool knows_with(const JcpCover& cover, std::span<const std::string> engines);

/// Which of several predictors answers for a device, and by which of its models.
struct DeviceChoice {
    std::size_t predictor = 0;         ///< its place among them
    std::optional<std::size_t> model;  ///< place in Predictor::devices; absent: a model over other devices is meant
    bool is_kept = false;              ///< which is adjusted to the operations that the predictor keeps of it
    Device device;                     ///< what it is then to be instantiated for
    bool is_stand_in = false;          ///< this machine's CPU was not measured; the model is another one's
};

/// The first predictor that covers the device by its id, by a model of its own or by operations that it keeps, else by
/// another of its names; else one with a model over devices of its kind: then the device is known as of
/// device_argument(). "cpu" is this machine; where no predictor was measured on exactly this CPU, the first that covers
/// some CPU stands in. `cover(i)` is that of the i-th predictor, nullptr behind the last; it is asked in order, no
/// further than needed. `stored` are the devices of a database. Absent where none covers the device. Throws UsageError
/// for a device that nobody knows, naming those near it.
std::optional<DeviceChoice> choose_device(const std::string& device,
                                          const std::function<const JcpCover*(std::size_t)>& cover,
                                          std::span<const Device> stored = {});

/// Ids of all that it covers.
std::vector<std::string> covered_ids(const JcpCover& cover);

/// The models over others of a device that has none of its own, taken out of the predictor, which may be large:
/// adjusted to the operations that it keeps of it, if it does. None where its models are of another kind of device.
std::vector<DeviceModel> models_over_others(Predictor& predictor, const DeviceChoice& choice);

/// "h100-sxm was never measured. Estimated from its data sheet by a model of 9 devices (...)"; of one that starts from
/// others "204 operations of h100-sxm were measured; others estimated from its data sheet by ...". Of an instantiated
/// model.
std::string unseen_note(const DeviceModel& model);

/// "this CPU (cpu-x) was not measured; these are forecasts for ..."
std::string stand_in_note(const Device& device);

}  // namespace joulecast
