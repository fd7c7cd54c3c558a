#pragma once

#include <string>

namespace joulecast {

/// "any|inference|f32" of "convolution|inference|f32": the law of all that was measured in that mode and type. It
/// stands in for a family without rows.
inline std::string law_key_of_any(const std::string& family_key) {
    return "any" + family_key.substr(family_key.find('|'));
}

}  // namespace joulecast
