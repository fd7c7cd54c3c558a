#include "joulecast/units/digits.h"

#include <array>
#include <charconv>

namespace joulecast {

void append_digits(std::string& text, double value) {
    const std::size_t before = text.size();
    text += digits(value);
    if (text.find_first_of(".e", before) == std::string::npos) text += ".0";
}

void append_digits(std::string& text, std::int64_t value) {
    std::array<char, 24> written{};
    text.append(written.data(), std::to_chars(written.data(), written.data() + written.size(), value).ptr);
}

std::string digits(double value) {
    std::array<char, 32> written{};
    return {written.data(), std::to_chars(written.data(), written.data() + written.size(), value).ptr};
}

}  // namespace joulecast
