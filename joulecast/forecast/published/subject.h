#pragma once

#include <limits>
#include <string_view>

#include "joulecast/device/device.h"
#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// One operation under the conditions it was measured in: all that a published method is shown.
struct Subject {
    const PreparedOperation* operation = nullptr;
    const Device* device = nullptr;                               ///< its data sheet
    double clock_mhz = std::numeric_limits<double>::quiet_NaN();  ///< of the core; NaN: not known
    Math math = Math::ieee;
};

struct Observation {
    Subject subject;
    std::string_view group;  ///< operation_group(): what a method's own inner folds must not split
    double value = 0;        ///< in the metric's unit
};

}  // namespace joulecast
