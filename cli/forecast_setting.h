#pragma once

#include <string>

#include "joulecast/device/device.h"
#include "joulecast/forecast/training_setup.h"
#include "joulecast/graph/operation.h"

namespace joulecast::cli {

/// How a network runs.
struct ForecastSetting {
    Mode mode = Mode::inference;
    std::string precision = "fp32";
    Host host = Host::python;
    TrainingSetup training{};
};

}  // namespace joulecast::cli
