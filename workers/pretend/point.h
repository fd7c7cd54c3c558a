#pragma once

#include "joulecast/device/device.h"
#include "workers/pretend/card.h"
#include "workers/pretend/law.h"

namespace joulecast::pretend {

/// Who can issue calls to it.
std::vector<Host> hosts_of(const Card& card);

/// The setting that the point asks for: the highest clocks where it names none. Throws Error for a clock, limit, host
/// or number of threads that the card does not have.
Setting setting_of(const Card& card, const OperatingPoint& asked, int threads);
/// The limit that holds there.
double power_limit_w(const Card& card, const OperatingPoint& asked);

/// What the point is before anything runs.
OperatingPoint real_point(const Card& card, const OperatingPoint& asked, const Setting& setting);

}  // namespace joulecast::pretend
