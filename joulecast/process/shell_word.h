#pragma once

#include <string>

namespace joulecast {

/// The text as one word of a /bin/sh command, whatever is in it.
std::string shell_word(const std::string& text);

}  // namespace joulecast
