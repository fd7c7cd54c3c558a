#include "joulecast/units/digits.h"

#include <array>
#include <charconv>
#include <string_view>

namespace joulecast {

void append_digits(std::string& text, double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const std::string_view written(digits.data(), static_cast<std::size_t>(end - digits.data()));
    text += written;
    if (written.find_first_of(".e") == std::string_view::npos) text += ".0";
}

void append_digits(std::string& text, std::int64_t value) {
    std::array<char, 24> digits{};
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

}  // namespace joulecast
