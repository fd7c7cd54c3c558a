#pragma once

#include <span>

#include "joulecast/forecast/published/subject.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// A measured row as published methods see it: at its own clock, or where nobody knows that at the setting's.
Subject subject_of(const TrainingRow& row, const Device& device, const OperatingPoint& setting);

/// The predictor of a paper for one device and setting: operations by its regressions of raw time and power, a network
/// as their sum, without laws, corrections, hosts and idle power. Intervals are conformal, of rows whose group no
/// regression saw; `networks`, which may be empty, tell how far sums of such rows are off. Where rows differ in clocks
/// the thesis' knows them (it has the clock as a column); Sponner et al.'s knows none. Throws Error without rows.
DeviceModel train_published(PublishedMethod method, const Device& device, const OperatingPoint& setting,
                            std::span<const TrainingRow> rows, std::span<const TrainingNetwork> networks,
                            const TrainSettings& settings);

}  // namespace joulecast
