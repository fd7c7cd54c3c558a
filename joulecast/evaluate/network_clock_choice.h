#pragma once

#include <span>
#include <vector>

#include "joulecast/evaluate/clock_choice.h"
#include "joulecast/evaluate/cross_validate.h"

namespace joulecast {

/// How well forecasts choose the core clock of networks that were measured at three clocks or more of one device: what
/// the clock that is best by forecast costs more than the one that is best as measured. At the highest memory clock
/// of each network and at the device's own power limit; of several measurements at one clock the first counts. As
/// `recommend` does, no choice goes below the lowest clock of the model. Beside it rules that need no forecast of the
/// network: the highest clock, the clock next to 68 % of it, and the share of it that is best on average for the other
/// networks. One device after the other; empty where no network was measured and forecast so, or without energy.
std::vector<ClockRegret> network_clock_regrets(std::span<const NetworkAccuracy> networks);

}  // namespace joulecast
