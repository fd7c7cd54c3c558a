#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// For .cpp files: JSON that nobody vouches for.
namespace joulecast {

struct JsonLimits {
    std::size_t depth = 16;          ///< objects and arrays in each other
    std::size_t values = 2'000'000;  ///< in the whole text; each takes up to 100 bytes
    bool refuses_nul = false;        ///< in keys and texts
};

/// Of a session's settings: a few numbers and words.
inline constexpr JsonLimits limits_of_settings{.depth = 4, .values = 1000};

/// In time linear in the text: the library's own parser with a callback looks through the parent again at the end of
/// each object. Throws FormatError for what is no JSON, passes a limit, or has a key twice in one object, where the
/// library would drop the first in silence.
nlohmann::json parse_bounded(std::string_view text, const JsonLimits& limits);

/// The same, and null for what it would throw at.
nlohmann::json parse_bounded_or_null(std::string_view text, const JsonLimits& limits);

/// NaN and infinity are null: JSON has no other way to say them.
nlohmann::json number_or_null(double value);

}  // namespace joulecast
