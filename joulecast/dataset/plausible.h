#pragma once

#include <optional>
#include <string>

#include "joulecast/device/device.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

struct ReferenceRow;

/// Why a timed measurement cannot be right on that device, by what its data sheet gives: times beyond a day or under a
/// nanosecond, arithmetic at more than eight times the peak (Winograd's convolutions and Fourier transforms save up to
/// six), more bytes than its memory's bandwidth times four and its caches hold, twice its power limit, energy that its
/// power and time do not make, clocks half above its highest, more memory than a GPU has. Generous: what it names is
/// wrong, what it passes need not be right. Absent where it finds nothing, and for what has no time.
std::optional<std::string> implausible(const Measurement& measurement, const Device& device);
std::optional<std::string> implausible(const NetworkMeasurement& measurement, const Device& device);
/// Of a repeat its time alone: nothing tells of the device.
std::optional<std::string> implausible(const ReferenceRow& row);

/// With the outcome `suspect` and a message that says why. Its numbers stay, and nothing learns from them.
Measurement suspected(Measurement measurement, const std::string& why);
NetworkMeasurement suspected(NetworkMeasurement measurement, const std::string& why);
/// Suspected where it is implausible, else as it is.
Measurement judged(Measurement measurement, const Device& device);
NetworkMeasurement judged(NetworkMeasurement measurement, const Device& device);

}  // namespace joulecast
