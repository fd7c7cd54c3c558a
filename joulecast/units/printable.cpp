#include "joulecast/units/printable.h"

namespace joulecast {

std::string printable(std::string_view text, std::size_t most) {
    std::string shown(text.substr(0, most));
    for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
    return shown;
}

}  // namespace joulecast
