#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace joulecast::cli {

/// Words in lines of at most `width` columns (a longer word stands alone); lines behind the first begin with `indent`.
/// The first line begins at column `start` of its line.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent = "", std::size_t start = 0);

/// A guide for a terminal: paragraphs and list items in lines of `width` columns; headings, tables and indented
/// commands as they are.
std::string wrapped_guide(std::string_view markdown, std::size_t width);

/// A guide as a section of a man page (man(7)): headings, paragraphs, lists, tables and commands.
std::string as_man_page(std::string_view markdown);

}  // namespace joulecast::cli
