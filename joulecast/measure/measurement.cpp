#include "joulecast/measure/measurement.h"

#include <array>
#include <utility>

namespace joulecast {

namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 6> outcome_names = {
    {{Outcome::ok, "ok"},
     {Outcome::unstable, "unstable"},
     {Outcome::out_of_memory, "out_of_memory"},
     {Outcome::unsupported, "unsupported"},
     {Outcome::crashed, "crashed"},
     {Outcome::inferred, "inferred"}}};

}  // namespace

std::string_view name(Outcome outcome) {
    for (const auto& [entry, text] : outcome_names) {
        if (entry == outcome) return text;
    }
    return "";
}

std::optional<Outcome> parse_outcome(std::string_view text) {
    for (const auto& [entry, entry_name] : outcome_names) {
        if (entry_name == text) return entry;
    }
    return std::nullopt;
}

}  // namespace joulecast
