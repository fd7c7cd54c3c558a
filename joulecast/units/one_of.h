#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>

namespace joulecast {

inline bool is_one_of(std::string_view text, std::span<const std::string_view> texts) {
    return std::ranges::find(texts, text) != texts.end();
}

inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> texts) {
    return std::ranges::find(texts, text) != texts.end();
}

}  // namespace joulecast
