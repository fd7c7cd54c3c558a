#include "joulecast/dataset/card.h"

#include <algorithm>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/units/printable.h"

namespace joulecast {
namespace {

constexpr std::string_view before_card = "; card ";
constexpr std::size_t longest_card = 200;

bool is_card(std::string_view name) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@-";
    return !name.empty() && name.size() <= longest_card && name.find_first_not_of(allowed) == std::string_view::npos;
}

/// Where the card begins; npos where there is none. A worker may have written the same words: the last ones count.
std::size_t place_of_card(std::string_view machine) {
    const std::size_t found = machine.rfind(before_card);
    if (found == std::string_view::npos || !is_card(machine.substr(found + before_card.size())))
        return std::string_view::npos;
    return found;
}

}  // namespace

std::string with_card(const std::string& machine, const std::string& card) {
    if (!is_card(card))
        throw UsageError("'" + printable(card, longest_card) +
                         "' is no name of a card: 1 to 200 letters, digits and ._:/@-, such as node7/GPU-0f3a");
    return machine.substr(0, std::min(place_of_card(machine), machine.size())) + std::string(before_card) + card;
}

std::string card_of(const Provenance& provenance) {
    const std::size_t found = place_of_card(provenance.machine);
    return found == std::string::npos ? "" : provenance.machine.substr(found + before_card.size());
}

}  // namespace joulecast
