#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verb.h"

namespace joulecast::cli {

struct VerbInGroup {
    const char* group;  ///< its heading in --help
    Verb verb;
};

/// What `help` knows besides the verbs: "exporting", "how to get a model file".
struct Topic {
    const char* name;
    const char* what;
};

/// A program of verbs: joulecast, joulecast-lab.
struct Program {
    const char* name;
    const char* overview;            ///< --help begins with it
    const char* footer;              ///< and ends with it
    std::vector<VerbInGroup> verbs;  ///< in the order of --help; `help` is added
    std::vector<Topic> other_topics;
    /// The guide of a verb or topic, empty where there is none.
    std::string_view (*guide)(std::string_view verb);
    /// Looks at the command line first, and may become another program; nullptr: nothing to look for.
    void (*divert)(std::span<char* const> arguments) = nullptr;
};

/// main() of the program: parses the command line, runs the verb, reports errors on standard error. The exit status.
int run_program(const Program& program, int argc, char** argv);

}  // namespace joulecast::cli
