#include "workers/pretend/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "joulecast/error.h"
#include "workers/pretend/card_file.h"

namespace joulecast::pretend {

const char* const usage =
    "usage: joulecast-pretend [--device ID] [--seed N] [--noise SHARE] [--drift SHARE] [--truth]\n"
    "                         [--fail KIND:EVERY|KIND:WORD]... [--laws FILE.json] [--print-laws]\n"
    "\n"
    "A worker (docs/worker-protocol.md) that measures nothing: it answers by the laws of docs/pretend.md.\n"
    "  --device ID    what hello tells of first: pretend-a (default), pretend-b, pretend-c, pretend-cpu\n"
    "  --seed N       of noise and drift; without it another one each time\n"
    "  --noise SHARE  of times between repeats and between blocks (default 0.006)\n"
    "  --drift SHARE  of the slow change of pace (default 0.01)\n"
    "  --truth        the same as --noise 0 --drift 0\n"
    "  --fail KIND:EVERY or KIND:WORD   crash, hang, out_of_memory, unsupported, unstable, outlier, impossible,\n"
    "                 no_energy, thermal: in each EVERY-th trial, or where the operation or network has that WORD\n"
    "  --laws FILE    cards of your own in the place of the four; --print-laws shows the form\n"
    "  --version\n";

namespace {

struct MishapName {
    std::string_view name;
    Mishap mishap;
};
constexpr MishapName mishaps[] = {
    {"crash", Mishap::crash},
    {"hang", Mishap::hang},
    {"out_of_memory", Mishap::out_of_memory},
    {"unsupported", Mishap::unsupported},
    {"unstable", Mishap::unstable},
    {"outlier", Mishap::outlier},
    {"impossible", Mishap::impossible},
    {"no_energy", Mishap::no_energy},
    {"thermal", Mishap::thermal},
};

template <class Number>
std::optional<Number> number(const std::string& text) {
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

double share(const std::string& option, const std::string& text) {
    const auto value = number<double>(text);
    if (!value || !(*value >= 0) || !(*value <= 1))
        throw UsageError(option + ": '" + text + "' is not a share between 0 and 1\n" + usage);
    return *value;
}

Demand demand(const std::string& text) {
    const std::size_t colon = text.find(':');
    const auto* named = std::ranges::find(mishaps, std::string_view(text).substr(0, colon), &MishapName::name);
    if (named == std::end(mishaps) || colon == std::string::npos || colon + 1 == text.size())
        throw UsageError("--fail: '" + text + "' is not a KIND:EVERY or KIND:WORD\n" + usage);
    Demand result{named->mishap, 0, text.substr(colon + 1)};
    if (const auto every = number<std::int64_t>(result.word); every && *every > 0) {
        result.every = *every;
        result.word.clear();
    }
    return result;
}

void take(Options& options, const std::string& option, const std::string& value) {
    if (option == "--device") {
        options.device = value;
    } else if (option == "--seed") {
        options.seed = number<std::uint64_t>(value);
        if (!options.seed) throw UsageError("--seed: '" + value + "' is not a whole number\n" + usage);
    } else if (option == "--noise") {
        options.noise = share(option, value);
    } else if (option == "--drift") {
        options.drift = share(option, value);
    } else if (option == "--fail") {
        options.demands.push_back(demand(value));
    } else if (option == "--laws") {
        options.cards = read_cards(value);
    } else {
        throw UsageError("there is no option '" + option + "'\n" + usage);
    }
}

}  // namespace

Options parse_options(const std::vector<std::string>& words) {
    Options options;
    options.cards = built_in_cards();
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--help") {
            options.help = true;
        } else if (word == "--version") {
            options.version = true;
        } else if (word == "--print-laws") {
            options.print_laws = true;
        } else if (word == "--truth") {
            options.noise = options.drift = 0;
        } else if (i + 1 == words.size()) {
            throw UsageError("option '" + word + "' has no value, or there is none of that name\n" + usage);
        } else {
            take(options, word, words[++i]);
        }
    }
    const auto is_asked = [&](const Card& card) { return card.sheet.id == options.device; };
    if (!options.device.empty() && std::ranges::none_of(options.cards, is_asked))
        throw UsageError("--device: there is no pretended device '" + options.device + "'\n" + usage);
    return options;
}

}  // namespace joulecast::pretend
