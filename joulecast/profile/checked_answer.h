#pragma once

#include <cstddef>

#include "joulecast/measure/measurement.h"

namespace joulecast {

/// What a worker answered, made fit to store: the asked operation and point, and no numbers that cannot be.
Measurement checked(Measurement answer, const Operation& operation, const OperatingPoint& point);
/// The same of a network of so many nodes; `unsupported` where it did not update the weights as asked.
NetworkMeasurement checked(NetworkMeasurement answer, const NetworkMeasurement& asked, std::size_t nodes);

}  // namespace joulecast
