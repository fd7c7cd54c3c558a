#pragma once

#include <string>

#include "joulecast/measure/measurement.h"

namespace joulecast {

/// Which of several equal cards measured: its name stands at the end of Provenance::machine, and so in every copy of
/// its rows. Who measures a fleet gives it, for example "node7/GPU-0f3a".

/// The machine with that card in the place of one that it had. Throws UsageError for a name that is empty, longer than
/// 200 characters, or has others than letters, digits and ._:/@-.
std::string with_card(const std::string& machine, const std::string& card);

/// Empty where nobody named it.
std::string card_of(const Provenance& provenance);

}  // namespace joulecast
