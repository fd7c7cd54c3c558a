#include "cli/laboratory.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 7> published_tables{"nicolai",    "neusight",      "aiconfigurator", "vidur",
                                                           "energaizer", "llmservingsim", "mlperf-power"};
constexpr std::array<std::string_view, 3> comparisons{"--baselines", "--learner", "--outliers"};
constexpr std::array<std::string_view, 3> verbs{"study", "baselines", "figures"};

/// The first word that is neither an option nor stands behind one, as its value.
std::string_view first_argument(Words words) {
    bool is_value = false;
    for (const std::string_view word : words) {
        const bool is_option = word.starts_with('-');
        if (!is_option && !is_value) return word;
        is_value = is_option && word.find('=') == std::string_view::npos;
    }
    return {};
}

/// "--learner" or "--learner=knn".
bool is_comparison(std::string_view word) {
    return std::ranges::find(comparisons, word.substr(0, word.find('='))) != comparisons.end();
}

}  // namespace

bool is_for_laboratory(Words words) {
    if (words.empty()) return false;
    const std::string_view verb = words.front();
    const Words rest = words.subspan(1);
    if (verb == "study") return true;
    if (verb == "help") return !rest.empty() && std::ranges::find(verbs, rest.front()) != verbs.end();
    if (verb == "import") return std::ranges::find(published_tables, first_argument(rest)) != published_tables.end();
    return verb == "validate" && std::ranges::any_of(rest, is_comparison);
}

void hand_over_to_laboratory(std::span<char* const> arguments) {
    const std::vector<std::string_view> words(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
    if (!is_for_laboratory(words)) return;
    std::string program = beside_this_program("joulecast-lab");
    if (program.empty())
        throw Error("'joulecast " + std::string(words.front()) +
                    "' with these arguments is done by joulecast-lab (published tables, methods and studies), which is "
                    "not beside joulecast. Build it: cmake -DJOULECAST_LAB=ON, which is the default; or copy it there");
    std::vector<char*> line(arguments.begin(), arguments.end());
    line.front() = program.data();
    line.push_back(nullptr);
    ::execv(program.c_str(), line.data());
    throw Error("cannot start " + program + ": " + std::generic_category().message(errno));
}

}  // namespace joulecast::cli
