#include "joulecast/units/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <new>

namespace joulecast {

namespace {

/// Bytes of the character that begins with this one; 0 for one that begins none.
std::size_t length_by_first(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return 2;
    if (first >= 0xe0 && first < 0xf0) return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

struct Character {
    std::uint32_t value = 0xfffd;
    std::size_t length = 1;
    bool is_whole = false;
};

Character first_character(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = length_by_first(first);
    if (length == 0 || length > text.size()) return {};
    constexpr std::array<unsigned char, 5> masks{0, 0x7f, 0x1f, 0x0f, 0x07};
    std::uint32_t value = first & masks[length];
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0U) != 0x80) return {};
        value = value << 6U | (next & 0x3fU);
    }
    // Longer than need be, halves of pairs, beyond Unicode.
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    if (value < least[length] || (value >= 0xd800 && value < 0xe000) || value > 0x10ffff) return {};
    return {value, length, true};
}

bool steers(std::uint32_t c) {
    if (c < 0x20) return c != '\n' && c != '\t';
    if (c >= 0x7f && c < 0xa0) return true;
    return c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// One byte that is shown as it is: nearly all of what is printed.
bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && !steers(byte);
}

}  // namespace

std::string printable_text(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const std::size_t plain = static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
        shown += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        const Character c = first_character(text);
        if (!c.is_whole) {
            shown += "\xef\xbf\xbd";
        } else if (steers(c.value) && !text.starts_with("\r\n")) {
            std::array<char, 16> written{};
            std::snprintf(written.data(), written.size(), "\\u%04x", static_cast<unsigned>(c.value));
            shown += written.data();
        } else {
            shown += text.substr(0, c.length);
        }
        text.remove_prefix(c.length);
    }
    return shown;
}

void write_error_line(std::string_view program, std::string_view text) noexcept {
    try {
        // In one piece, so that lines of several processes do not mix.
        const std::string line = std::string(program) + ": " + printable_text(text) + '\n';
        std::fwrite(line.data(), 1, line.size(), stderr);
    } catch (const std::bad_alloc&) {
        std::fputs("out of memory\n", stderr);
    }
}

std::size_t unfinished_bytes(std::string_view text) {
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xc0U) == 0x80) continue;
        return length_by_first(byte) > back ? back : 0;
    }
    return 0;
}

std::string printable(std::string_view text, std::size_t most) {
    std::string shown(text.substr(0, most));
    for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
    return shown;
}

}  // namespace joulecast
