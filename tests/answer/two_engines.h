#pragma once

#include <string>
#include <utility>

#include "joulecast/model/jcp.h"

namespace joulecast::testing {

/// A CPU (cpu-synthetic) that was measured with two engines, of which ONNX Runtime's rows come first and take twice as
/// long.
inline Predictor two_engines() {
    Predictor predictor = read_jcp(JOULECAST_SOURCE_DIR "/tests/model/data/version_1.jcp");
    DeviceModel other = predictor.devices.front();
    other.point.engine = "onnxruntime";
    other.pace = 2;
    predictor.devices.insert(predictor.devices.begin(), std::move(other));
    return predictor;
}

}  // namespace joulecast::testing
