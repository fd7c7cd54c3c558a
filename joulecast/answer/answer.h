#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/answer/loaded_device.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/relative_cost.h"
#include "joulecast/graph/graph.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// A forecast over that at the clock that the device runs at by itself.
struct RelativeToDefault {
    OperatingPoint point;  ///< what that is: the real clocks, and the device's power limit
    RelativeCost cost;
};

/// A forecast with what is shown beside it.
struct Forecast {
    NetworkForecast network;
    std::string device_name;
    int threads = 0;                       ///< that the device computes with; 0 of a GPU
    std::shared_ptr<const Origin> origin;  ///< of the predictor; the same at every point
    std::string note;                      ///< that of the device it was asked for
    HostExtra assumed_host;                ///< of the host asked for, where no network was measured from it
    std::int64_t clock_workloads = 0;      ///< measured at several clocks of the device, that other clocks rest on
    std::optional<RelativeToDefault> relative_to_default;  ///< where clocks or limits are asked for

    std::size_t device = 0;              ///< place in Answer::devices
    const DeviceModel* model = nullptr;  ///< of that device, while its AnsweringDevice::loaded lives
    std::shared_ptr<const Graph> graph;  ///< as it was forecast, where Question::keeps_graphs
};

/// A device of a question.
struct AnsweringDevice {
    std::string named;                           ///< as in the question, without clocks
    std::shared_ptr<const LoadedDevice> loaded;  ///< lives as long as somebody has it
    std::string note;        ///< what the user must know of the choice of its predictor; may be empty
    std::string short_note;  ///< the same in a few words, as it stands among Answer::notes
};

/// Something that was asked for and cannot be had.
struct LeftOut {
    std::size_t device = 0;    ///< place in Answer::devices
    std::size_t forecast = 0;  ///< place in Answer::forecasts that it would have had, were it the only one
    std::string reason;
};

struct Answer {
    /// By device, network, sizes, mode, precision, host and point, in this order; of single calls by device, operation,
    /// precision, host and point.
    std::vector<Forecast> forecasts;
    std::vector<AnsweringDevice> devices;  ///< in the order of the question
    std::vector<std::string> notes;        ///< what forecasts rest on, sentence by sentence, in the order of devices
    std::vector<LeftOut> left_out;         ///< in the order of forecasts
};

}  // namespace joulecast
