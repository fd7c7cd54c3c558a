#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// Longest text of a graph; a longer one is garbage.
inline constexpr std::size_t max_graph_bytes = std::size_t{32} << 20U;

enum class GraphText {
    line,  ///< one line, all sizes numbers: what a worker is sent, which never re-shapes
    file   ///< one node a line, sizes as expressions of the symbols: what a .graph.json holds
};

/// The form that docs/graph-json.md and docs/graph.schema.json describe.
std::string graph_to_json(const Graph& graph, GraphText form = GraphText::line);

/// Throws FormatError that begins with "cannot read <source>: " and names the place; nothing in the text can make it
/// recurse deeply or take memory out of proportion. A graph without "name" has an empty one.
Graph graph_from_json(std::string_view json, std::string_view source = "graph");

}  // namespace joulecast
