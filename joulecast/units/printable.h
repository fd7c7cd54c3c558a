#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace joulecast {

/// What a stranger wrote, fit for a message and a terminal: at most `most` bytes of it, each that is no printable
/// character of ASCII as "?".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// UTF-8 with nothing in it that steers a terminal: control characters and those that turn the direction of writing as
/// "\u001b", bytes that are no UTF-8 as U+FFFD. Line feeds (and a carriage return before one) and tabs stay.
std::string printable_text(std::string_view text);

/// "program: text" in a line of standard error, as printable text: for programs that log and for workers. Where there
/// is no memory for it, "out of memory": who comes here has often failed already, and must end in good order.
void write_error_line(std::string_view program, std::string_view text) noexcept;

/// How many bytes at the end are the beginning of a character whose rest may follow.
std::size_t unfinished_bytes(std::string_view text);

}  // namespace joulecast
