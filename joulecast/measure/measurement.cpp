#include "joulecast/measure/measurement.h"

#include <array>
#include <span>
#include <utility>

namespace joulecast {

namespace {

template <class Word>
using Names = std::span<const std::pair<Word, std::string_view>>;

constexpr std::array<std::pair<Outcome, std::string_view>, 7> outcome_names = {
    {{Outcome::ok, "ok"},
     {Outcome::unstable, "unstable"},
     {Outcome::out_of_memory, "out_of_memory"},
     {Outcome::unsupported, "unsupported"},
     {Outcome::crashed, "crashed"},
     {Outcome::inferred, "inferred"},
     {Outcome::suspect, "suspect"}}};

constexpr std::array<std::pair<LimitedBy, std::string_view>, 4> limit_names = {{{LimitedBy::unknown, "unknown"},
                                                                                {LimitedBy::none, "none"},
                                                                                {LimitedBy::power_cap, "power_cap"},
                                                                                {LimitedBy::thermal, "thermal"}}};

constexpr std::array<std::pair<Method, std::string_view>, 3> method_names = {
    {{Method::joulecast, "joulecast"}, {Method::thesis, "thesis"}, {Method::sponner, "sponner"}}};

constexpr std::array<std::pair<Optimizer, std::string_view>, 5> optimizer_names = {{{Optimizer::none, "none"},
                                                                                    {Optimizer::sgd, "sgd"},
                                                                                    {Optimizer::momentum, "momentum"},
                                                                                    {Optimizer::adam, "adam"},
                                                                                    {Optimizer::adamw, "adamw"}}};

template <class Word>
std::string_view name_in(Names<Word> names, Word word) {
    for (const auto& [entry, text] : names) {
        if (entry == word) return text;
    }
    return "";
}

template <class Word>
std::optional<Word> word_in(Names<Word> names, std::string_view text) {
    for (const auto& [entry, entry_name] : names) {
        if (entry_name == text) return entry;
    }
    return std::nullopt;
}

}  // namespace

std::string_view name(Outcome outcome) {
    return name_in<Outcome>(outcome_names, outcome);
}

std::optional<Outcome> parse_outcome(std::string_view text) {
    return word_in<Outcome>(outcome_names, text);
}

bool is_timed(Outcome outcome) {
    return outcome == Outcome::ok || outcome == Outcome::unstable;
}

std::string_view name(LimitedBy limit) {
    return name_in<LimitedBy>(limit_names, limit);
}

std::optional<LimitedBy> parse_limited_by(std::string_view text) {
    return word_in<LimitedBy>(limit_names, text);
}

std::string_view name(Method method) {
    return name_in<Method>(method_names, method);
}

std::optional<Method> parse_method(std::string_view text) {
    return word_in<Method>(method_names, text);
}

std::string_view name(Optimizer optimizer) {
    return name_in<Optimizer>(optimizer_names, optimizer);
}

std::optional<Optimizer> parse_optimizer(std::string_view text) {
    return word_in<Optimizer>(optimizer_names, text);
}

std::string engine_of(std::string_view framework) {
    constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    constexpr std::size_t longest = 40;
    std::string engine;
    for (const char c : framework.substr(0, framework.find_first_not_of(characters)).substr(0, longest))
        engine += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool says_nothing = engine.empty() || engine == "none" || engine == "unknown" || engine == "pytorch";
    return says_nothing ? OperatingPoint{}.engine : engine;
}

bool is_engine(std::string_view text) {
    return !text.empty() && text == engine_of(text);
}

}  // namespace joulecast
