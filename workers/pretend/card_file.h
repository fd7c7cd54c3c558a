#pragma once

#include <string>
#include <vector>

#include "workers/pretend/card.h"

namespace joulecast::pretend {

/// Cards as JSON: {"schema": "joulecast.pretend/1", "cards": [{"id", "based_on", ...}]}. A card has all of the built-in
/// one that it is based on (pretend-a where nothing is said), but for what it names itself: display_name, units, the
/// figures of docs/devices.md, the lists and limits of clocks, and the constants of the laws (docs/pretend.md).
/// Throws FormatError that names the card and the key; unknown keys are refused.
std::vector<Card> cards_from_json(const std::string& text, const std::string& source);
/// Throws Error for a file that cannot be read.
std::vector<Card> read_cards(const std::string& path);

/// All of each card, in that form.
std::string cards_to_json(const std::vector<Card>& cards);

}  // namespace joulecast::pretend
