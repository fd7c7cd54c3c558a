#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/model/predictor.h"

namespace joulecast {

// What the predictors of the two papers are called and how wide their rows are; what stands in a row:
// joulecast/forecast/published.

/// "thesis", "sponner": as options and JSON name it.
std::string_view name(PublishedMethod method);
std::optional<PublishedMethod> parse_published_method(std::string_view text);
/// "Nicolai 2025", "Sponner et al. 2022".
std::string_view paper(PublishedMethod method);
/// "thesis (Nicolai 2025)".
std::string description(PublishedMethod method);

/// That of the predictor's devices; "joulecast" for its own.
std::string_view method_name(const Predictor& predictor);

/// "Nicolai 2025"; empty for joulecast's own.
std::string_view method_paper(const Predictor& predictor);

/// Attributes of a layer that the thesis' rows hold, each with a flag; columns of a row of Sponner et al.
inline constexpr std::size_t thesis_attribute_count = 23;
inline constexpr std::size_t sponner_columns = 25;

/// How many columns a regression of those layers has.
std::size_t column_count(PublishedMethod method, std::size_t layers);

}  // namespace joulecast
