#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// A graph as bytes that are read ten times as fast as the .pt2 it was made from: texts, expressions and types stand
/// once and numbers are short. Made by the build for the networks of the zoo (tools/pack_zoo.cpp); the .pt2 stays the
/// source, and a packed graph says of which bytes it was made. Not a format to keep: each program reads its own only.

/// The bytes of a file, to tell whether a packed graph was made from it. No defence against forgery.
struct SourceMark {
    std::uint64_t size = 0;
    std::uint64_t hash = 0;
    friend bool operator==(const SourceMark&, const SourceMark&) = default;
};
SourceMark source_mark(std::string_view bytes);

/// Throws Error for a graph that makes its calls anew for other sizes (.onnx).
std::string pack_graph(const Graph& graph, const SourceMark& source);

/// Absent where it was made from other bytes or by another program. Throws FormatError, which names `name`, for one
/// that is damaged.
std::optional<Graph> unpack_graph(std::string_view packed, const SourceMark& source, const std::string& name);

/// The folder of the packed graphs of a zoo: beside it.
std::filesystem::path packed_zoo(const std::filesystem::path& zoo);

/// The packed form of the zoo's file `stem`.pt2, at its exported sizes; absent where there is none or the file is
/// another by now.
std::optional<Graph> read_packed(const std::filesystem::path& zoo, const std::string& stem);

}  // namespace joulecast
