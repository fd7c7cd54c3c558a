#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "joulecast/forecast/start_from_others.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// What was measured on one device at one setting.
struct DeviceRows {
    Device device;
    OperatingPoint setting;
    std::vector<TrainingRow> rows;
};

/// Fits the model; every choice in it and the prior of its errors are made on devices left out in turn. Kinds of calls
/// in training mode count where two devices have them; else backward passes follow from forward ones. Throws Error for
/// fewer than two devices, or where they differ in kind or math.
PooledModel train_pooled(std::span<const DeviceRows* const> parts, const TrainSettings& settings);

MeasuredCall as_call(const TrainingRow& row);

/// As adjust_to() of calls (forecast/start_from_others.h).
void adjust_to(DeviceModel& model, std::span<const Feature* const> columns,
               std::span<const TrainingRow* const> measured);

/// What networks ask of a device, each different operation weighted by the square of its share of its network's
/// forecast time: what its error adds to the network's variance.
std::vector<ResidualTarget> targets_of(std::span<const Graph* const> networks, const DeviceModel& model,
                                       std::span<const Feature* const> columns);

/// Which of the rows' operations tell most of the targets, before any is measured; without targets, of how the device
/// differs from others at sizes like the rows'.
std::vector<std::size_t> telling_rows(const DeviceModel& model, std::span<const Feature* const> columns,
                                      std::span<const TrainingRow> rows, std::size_t count,
                                      std::vector<ResidualTarget> targets = {});

}  // namespace joulecast
