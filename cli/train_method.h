#pragma once

#include <vector>

#include "cli/measured_rows.h"
#include "joulecast/model/predictor.h"
#include "joulecast/train/train.h"

namespace joulecast::cli {

/// A predictor of a published method, a model for each device and setting of the rows. Tells on standard error what it
/// does.
Predictor train_method(PublishedMethod method, const std::vector<MeasuredRows>& measured,
                       const TrainSettings& settings);

/// "a30|inference|f32" of the device a30 is "inference|f32": what a regression is of, beside its device.
std::string layer_of(const PublishedRegression& regression, const DeviceModel& device);

}  // namespace joulecast::cli
