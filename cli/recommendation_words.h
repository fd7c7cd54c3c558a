#pragma once

#include <string>

#include "joulecast/recommend/recommend.h"

namespace joulecast::cli {

/// "1110 MHz", "1380 MHz (runs at 1245 MHz)", "a limit of 200 W", "its default clock of 1410 MHz".
std::string setting_words(const Candidate& candidate);
/// "batch=32, bf16, training": what of a run is not its device; inference is not said.
std::string run_words(const Candidate& candidate);
/// A value of the objective for a sample, with its unit: "12.3 mJ". Money and CO2 are small, so they are those of a
/// million samples: "0.239 per million".
std::string value_words(Objective objective, double value);
/// "12.3 mJ of energy a sample", "price 0.239 per million samples"; of a network without a batch a run for a sample.
std::string cost_words(Objective objective, double value, const Candidate& candidate);
/// A limit's value with its unit. A price is that of the goal's job, else of a million samples.
std::string limit_words(const LimitRule& rule, double value, const Goal& goal);

}  // namespace joulecast::cli
