#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/verb.h"

namespace joulecast::cli {

/// What the place where a table goes can show.
struct Terminal {
    std::size_t width = 80;
    bool utf8 = true;
    bool colour = false;
};

/// Of standard output if it is a terminal and no file was asked for; files and pipes are UTF-8, $COLUMNS or 80 columns
/// wide. $NO_COLOR switches colour off.
Terminal terminal(const Output& output);

/// A share as a bar of at most `width` columns: blocks in steps of an eighth, or '#'.
std::string share_bar(double share, std::size_t width, const Terminal& terminal);

/// What coloured() puts around bars.
inline constexpr std::string_view colour_on = "\x1b[36m";
inline constexpr std::string_view colour_off = "\x1b[0m";

/// The text with its bars of blocks in colour, where the terminal has colours.
std::string coloured(const std::string& text, const Terminal& terminal);

/// At most `width` columns of the text, with an ellipsis if something is left out.
std::string shortened(const std::string& text, std::size_t width, const Terminal& terminal);

}  // namespace joulecast::cli
