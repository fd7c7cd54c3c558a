#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace joulecast::cli {

/// What a verb gave back.
struct Answer {
    int status = 0;                 ///< Exit of cli/verb.h
    std::string text;               ///< what the program would write to standard output
    std::vector<std::string> said;  ///< what it would say on standard error, line by line
};

/// Runs `extract`, `predict` or `recommend` with the words that would stand behind it on a command line. Prints
/// nothing; may be called from several threads at once. Throws UsageError for another verb and for words that the verb
/// does not take, and else what the verb throws.
Answer ask(const std::string& verb, const std::vector<std::string>& words);

/// Where zoo/ and predictors/ lie for a program that is not installed as ours is; $JOULECAST_HOME goes before it. For
/// the start of a program, before anything is asked.
void ship_from(const std::filesystem::path& folder);

}  // namespace joulecast::cli
