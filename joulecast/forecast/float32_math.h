#pragma once

#include <span>
#include <vector>

#include "joulecast/model/predictor.h"

namespace joulecast {

/// Models of the same device for the ways of multiplying float32 that none of those is for, as far as they tell it:
/// - of a device that was never measured, where its sheet has a rate for tf32: the kernels are forecast relative to the
///   peak of each way (forecast_unseen.h);
/// - PyTorch's default, where ieee and tf32 were both measured: convolutions of the second, all else of the first.
std::vector<DeviceModel> other_math(std::span<const DeviceModel> models);

}  // namespace joulecast
