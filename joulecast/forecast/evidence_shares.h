#pragma once

#include "joulecast/forecast/forecast.h"

namespace joulecast {

/// Adds to `evidence_share` what share of the forecast's time rests on which evidence: the calls' by their own, and
/// `added_s`, what a host adds to their sum, by the host's.
void share_evidence(NetworkForecast& forecast, double added_s);

}  // namespace joulecast
