#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/forecast/forecast_memory.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/forecast/training_setup.h"
#include "joulecast/graph/graph.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// Key of a NetworkCorrection: "training|bf16".
std::string correction_key(Mode mode, const std::string& precision);

/// What the network costs on the device of the model. `graph` is already at its symbols, precision and mode; measured
/// operations are from the host of the model's. Without `host` that is the network's, too. With an optimizer or
/// accumulated gradients time and energy are of one update with all the passes before it. Throws Error for a host that
/// nothing can be said of (hosts.h) and for a training that the graph cannot make (issue_order.h).
NetworkForecast forecast_network(const Graph& graph, const std::string& precision, const DeviceModel& device,
                                 std::span<const Feature* const> columns, const MeasuredOperations& measured,
                                 std::optional<Host> host = std::nullopt, const TrainingSetup& training = {});
/// The same, with forecasts of its operations that may have been made before: for many networks, which share most of
/// their calls. The cache is of the host that the operations were measured with; Error for one of another host.
NetworkForecast forecast_network(const Graph& graph, const std::string& precision, ForecastCache& known,
                                 std::optional<Host> host = std::nullopt, const TrainingSetup& training = {});

/// A call on the two timelines of a network's forecast, seconds from its start.
struct TimedCall {
    std::size_t operation = 0;  ///< into the forecast's operations
    StepPart part = StepPart::forward;
    std::int32_t node = -1;  ///< of the graph; -1: of the training step
    double issue_start_s = 0;
    double issue_end_s = 0;
    double start_s = 0;
    double end_s = 0;
    double dynamic_j = 0;  ///< above idle power; NaN where no power is known
};

struct NetworkTimeline {
    NetworkForecast forecast;
    std::vector<TimedCall> calls;  ///< shape arithmetic left out
};

/// The forecast with all of its calls: the last one ends at its time, and what they draw above idle power adds up to
/// its dynamic energy. Throws Error for a bag of operations, whose order nobody knows, and what forecast_network()
/// throws.
NetworkTimeline forecast_timeline(const Graph& graph, const std::string& precision, ForecastCache& known,
                                  std::optional<Host> host = std::nullopt, const TrainingSetup& training = {});

/// The training that a network was measured with. A bag does not tell its parameters: its optimizer is left out.
TrainingSetup measured_training(const Graph& graph, const NetworkMeasurement& measurement);

}  // namespace joulecast
