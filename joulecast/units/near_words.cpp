// Which words a misspelt one may have meant.
#include "joulecast/units/near_words.h"

#include <algorithm>
#include <utility>

namespace joulecast {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

std::vector<std::string> near_words(std::string_view asked, const std::vector<std::string>& words, std::size_t most) {
    constexpr std::size_t longest = 64;
    std::vector<std::pair<std::size_t, std::string>> near;
    if (asked.empty() || asked.size() > longest) return {};
    for (const std::string& word : words) {
        const std::size_t far = word.starts_with(asked) ? 0 : edit_distance(asked, word);
        if (far <= std::max<std::size_t>(1, word.size() / 3)) near.emplace_back(far, word);
    }
    std::ranges::sort(near);
    std::vector<std::string> nearest;
    for (auto& [far, word] : near)
        if (nearest.size() < most) nearest.push_back(std::move(word));
    return nearest;
}

}  // namespace joulecast
