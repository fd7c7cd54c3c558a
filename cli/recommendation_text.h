#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "joulecast/device/device.h"
#include "joulecast/recommend/recommend.h"

namespace joulecast::cli {

/// A recommendation with what is printed beside it.
struct Answered {
    std::string phase;  ///< of a network over sequences: "prefill", "decode"; else empty
    std::string model;
    Recommendation recommendation;
    std::map<std::string, Device> devices;  ///< by id
    std::vector<std::string> left_out;      ///< what could not be forecast, with the reason
    std::vector<std::string> notes;         ///< on predictors
    std::vector<std::string> predictors;
    std::vector<std::string> unknown_operations;
    std::string method = "joulecast";  ///< by which those are unknown, or the published one
};

/// The answer in one sentence, or why there is none.
std::string sentence(const Answered& answered);
/// Which limit binds and by how much, where nothing holds all of them.
std::string why_nothing(const Answered& answered);

/// The sentence, the command that applies it, the best of each run, the Pareto front.
std::string recommendations_to_text(const std::vector<Answered>& phases, const Terminal& terminal);
/// "joulecast.recommendation/1", complete: the keys are those of the first phase; a decoding step is under "decode".
std::string recommendations_to_json(const std::vector<Answered>& phases);
/// Every candidate, one row each.
std::string recommendations_to_csv(const std::vector<Answered>& phases);

}  // namespace joulecast::cli
