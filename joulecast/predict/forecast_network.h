#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/physics/memory.h"
#include "joulecast/predict/forecast_operation.h"
#include "joulecast/predict/model.h"
#include "joulecast/predict/predictor.h"

namespace joulecast {

/// Key of a NetworkCorrection: "training|bf16".
std::string correction_key(Mode mode, const std::string& precision);

/// Peak memory above parameters and inputs; workspaces are the measured or forecast peaks of the operations beyond
/// what the plan holds for them anyway. Absent for a graph without edges.
std::optional<MemoryPlan> plan_memory(const Graph& graph, const DeviceModel& device,
                                      std::span<const Feature* const> columns);

/// What the network costs on the device of the model. `graph` is already at its symbols, precision and mode; measured
/// operations are from the host of the model's. Without `host` that is the network's, too. Throws Error for a host that
/// nothing can be said of (hosts.h).
NetworkForecast forecast_network(const Graph& graph, const std::string& precision, const DeviceModel& device,
                                 std::span<const Feature* const> columns, const MeasuredOperations& measured,
                                 std::optional<Host> host = std::nullopt);

}  // namespace joulecast
