#pragma once

#include <string>
#include <vector>

namespace joulecast::cli {

/// The words as one writes them in a shell: those with other than plain characters in single quotes.
std::string shell_line(const std::vector<std::string>& words);

/// The command that this program was started with, its folder left out. A page carries it, so that it can be made
/// again.
std::string own_command();

}  // namespace joulecast::cli
