#pragma once

#include <string>

#include "joulecast/recommend/recommend.h"

namespace joulecast::cli {

/// "1110 MHz", "1380 MHz (runs at 1245 MHz)", "a limit of 200 W", "its default clock of 1410 MHz".
std::string setting_words(const Candidate& candidate);
/// "batch=32, bf16, training": what of a run is not its device; inference is not said.
std::string run_words(const Candidate& candidate);
/// A value of the objective with its unit: "12.3 mJ".
std::string value_words(Objective objective, double value);
/// A limit's value with its unit.
std::string limit_words(const LimitRule& rule, double value);
/// "a sample", "a token", "a run".
std::string of_what(const Candidate& candidate);

}  // namespace joulecast::cli
