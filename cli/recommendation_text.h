#pragma once

#include <string>
#include <vector>

#include "cli/forecast_text.h"
#include "cli/json_tree.h"
#include "cli/recommending.h"

namespace joulecast::cli {

/// The answer in one sentence, or why there is none.
std::string sentence(const Answered& answered);
/// Which limit binds and by how much, where nothing holds all of them.
std::string why_nothing(const Answered& answered);

/// The sentence, the command that applies it, the best of each run, the Pareto front.
std::string recommendations_to_text(const std::vector<Answered>& phases, const TextSettings& settings);
/// "joulecast.recommendation/1", complete: the keys are those of the first phase (with weights the mix); its decoding
/// step is under "decode", and of several networks each is one of "networks".
nlohmann::ordered_json recommendations_json(const std::vector<Answered>& phases);
/// Every candidate, one row each.
std::string recommendations_to_csv(const std::vector<Answered>& phases);

}  // namespace joulecast::cli
