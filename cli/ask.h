#pragma once

#include <string>
#include <vector>

namespace joulecast::cli {

/// What a verb gave back.
struct VerbOutput {
    int status = 0;                 ///< Exit of cli/verb.h
    std::string text;               ///< what the program would write to standard output
    std::vector<std::string> said;  ///< what it would say on standard error, line by line
};

/// Runs `extract`, `predict` or `recommend` with the words that would stand behind it on a command line. Prints
/// nothing; may be called from several threads at once. Throws UsageError for another verb and for words that the verb
/// does not take, and else what the verb throws.
VerbOutput ask(const std::string& verb, const std::vector<std::string>& words);

}  // namespace joulecast::cli
