#pragma once

#include <optional>
#include <string_view>

#include "joulecast/graph/graph.h"

/// Words that the reader and the writer of graphs as JSON share.
namespace joulecast::graph_json {

inline constexpr std::string_view schema = "joulecast.graph/1";

/// "user_input", "parameter", "buffer", "constant".
std::string_view word(GraphInput::Kind kind);
std::optional<GraphInput::Kind> parse_kind(std::string_view word);

}  // namespace joulecast::graph_json
