#include "joulecast/units/digits.h"

#include <array>
#include <charconv>
#include <string_view>

namespace joulecast {

namespace {

using Written = std::array<char, 32>;

template <class Number>
std::string_view written_into(Written& place, Number value) {
    return {place.data(), std::to_chars(place.data(), place.data() + place.size(), value).ptr};
}

}  // namespace

void append_digits(std::string& text, double value) {
    Written place;
    const std::string_view written = written_into(place, value);
    text += written;
    if (written.find_first_of(".e") == std::string_view::npos) text += ".0";
}

void append_digits(std::string& text, std::int64_t value) {
    Written place;
    text += written_into(place, value);
}

std::string digits(double value) {
    Written place;
    return std::string(written_into(place, value));
}

}  // namespace joulecast
