#pragma once

#include <span>
#include <string_view>

namespace joulecast::cli {

/// Whether a command line of joulecast asks for what joulecast-lab does: studies, published tables, published methods
/// and the comparisons of validate. Scripts were written when one program did both. `words` are those behind the
/// program's name.
bool is_for_laboratory(std::span<const std::string_view> words);

/// Becomes the joulecast-lab beside this program where the arguments (with the program's name) are for it: the same
/// words, the same exit status. Returns where they are not. Throws Error where they are and there is no joulecast-lab.
void hand_over_to_laboratory(std::span<char* const> arguments);

}  // namespace joulecast::cli
