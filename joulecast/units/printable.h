#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace joulecast {

/// What a stranger wrote, fit for a message and a terminal: at most `most` bytes of it, each that is no printable
/// character of ASCII as "?".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

}  // namespace joulecast
