#pragma once

#include <span>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/device/device.h"

namespace joulecast {

/// Two machines under one name: their rows would be learned as of one, and nobody would know.

/// The figures in which a device is told otherwise now than it is stored, "units 56, now 28"; empty where all agree to
/// a tenth, or one side does not tell them. Idle power is left out: workers measure it.
std::string changed_figures(const Device& stored, const Device& now);

/// How many times longer the reference operation takes than it took in earlier sessions, by their median, where the
/// same clock and limit were asked for. Of the sessions those count whose rows were all `measured` with the same math,
/// host, threads and engine as `now`. NaN where there is none to compare with.
double reference_ratio(std::span<const ReferenceRow> stored, std::span<const OperationRow> measured,
                       const ReferenceRow& now);

/// Beyond this, or below its inverse, it is not the pace of one machine: GPUs of one kind lie within a tenth, and
/// shared CPUs were seen to wander by a fifth.
inline constexpr double other_machine_ratio = 1.3;

}  // namespace joulecast
