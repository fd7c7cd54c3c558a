#include "cli/ask.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/hearing.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

/// Verbs that measure nothing, start no program and keep no state.
constexpr std::array askable{Verb{"extract", declare_extract}, Verb{"predict", declare_predict},
                             Verb{"recommend", declare_recommend}};

}  // namespace

VerbOutput ask(const std::string& verb, const std::vector<std::string>& words) {
    const auto* const found = std::ranges::find_if(askable, [&](const Verb& one) { return verb == one.name; });
    if (found == askable.end())
        throw UsageError("'" + verb + "' cannot be called from a program; extract, predict and recommend can");
    CLI::App command("", verb);
    const Run run = found->declare(command);
    try {
        // CLI11 takes the words of a vector from its back.
        command.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        throw UsageError(error.what());
    }
    Hearing hearing;
    VerbOutput answer;
    answer.status = run();
    answer.text = std::move(hearing.text);
    answer.said = std::move(hearing.said);
    return answer;
}

}  // namespace joulecast::cli
