#pragma once

#include <optional>
#include <span>
#include <vector>

#include "joulecast/train/train.h"

namespace joulecast {

/// Whether there are models over other devices (TrainSettings::others) that such rows can adjust: not for CPUs, other
/// engines than torch, sheets without peaks, rows at several clocks and rows whose time has its launch in it: models of
/// 97 layers of an A30, timed so, told networks 6 % off where an adjusted one was 20 % off.
bool can_start_from_others(const Device& device, const OperatingPoint& setting, std::span<const TrainingRow> rows,
                           const TrainSettings& settings);

enum class Keep { where_better, always };

/// What a predictor keeps of a device's operations where models over other devices, adjusted to them, forecast
/// operations left out about as well as models of its own or better: those know kernels of shapes unlike any that were
/// measured, which networks have. Absent where its own are clearly better (unless to keep `always`), and where it
/// cannot start from others. Hosts are as for any such device:
/// fitted to 36 networks of an H100 that C++ issued, they told networks left out 26 % wrong, as they are 20 %.
std::optional<KeptDevice> keep_operations(const Device& device, const OperatingPoint& setting,
                                          std::span<const TrainingRow> rows, const TrainSettings& settings,
                                          Keep keep = Keep::where_better);

/// The model that a predictor forecasts by where it keeps those operations: of `others`, the one that multiplies as
/// they were measured.
DeviceModel model_of(const KeptDevice& kept, const std::vector<PooledModel>& others);

}  // namespace joulecast
