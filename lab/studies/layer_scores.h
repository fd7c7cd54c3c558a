#pragma once

#include <span>
#include <vector>

#include "joulecast/evaluate/accuracy.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// What tables call the line of all layer types together.
inline constexpr const char* all_layers = "all";

/// One method on one layer type, metric and mode of a device.
struct LayerScore {
    Accuracy accuracy;  ///< `family` is the layer type (layer_kind()), or all_layers
    bool best_r2 = false;
    bool best_mape = false;  ///< least of the methods with a forecast for every row; of equal ones the first
};

/// The rows with their layer types as families. Throws Error for a forecast of a group that no row is of.
std::vector<OutOfFoldRow> by_layer(std::vector<OutOfFoldRow> forecasts, std::span<const TrainingRow> rows);

/// Layer type by method (Sponner et al. 2022, figure 3; Nicolai 2025, tables 5.1 to 5.4, where `family` is "all"):
/// lines of forecasts that by_layer() named, by device, math, mode, layer type and metric, methods in the order of the
/// rows.
std::vector<LayerScore> layer_scores(std::span<const OutOfFoldRow> forecasts);

}  // namespace joulecast
