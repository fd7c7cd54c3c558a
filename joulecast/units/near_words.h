#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

/// Insertions, deletions and replacements of a letter that make one word the other (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Words that differ from `asked` by a third of their letters at most, or that begin with it, nearest first, at most
/// `most`. None for a text of more than 64 bytes.
std::vector<std::string> near_words(std::string_view asked, const std::vector<std::string>& words,
                                    std::size_t most = 5);

}  // namespace joulecast
