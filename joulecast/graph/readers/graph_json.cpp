#include "joulecast/graph/graph_json.h"

#include <fstream>
#include <system_error>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast {
namespace {

constexpr std::string_view suffix = ".graph.json";

std::string file_text(const std::filesystem::path& path) {
    const auto fail = [&](const std::string& why) { throw FormatError("cannot read " + path.string() + ": " + why); };
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (!std::filesystem::exists(status)) fail("there is no such file");
    if (!std::filesystem::is_regular_file(status)) fail("it is not a file");
    const auto bytes = std::filesystem::file_size(path, problem);
    if (problem) fail(problem.message());
    if (bytes > max_graph_bytes) fail("it is longer than 32 MB");
    std::ifstream file(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(bytes), '\0');
    if (!file.read(text.data(), static_cast<std::streamsize>(text.size()))) fail("it cannot be opened or read");
    return text;
}

/// "nets/two.graph.json" -> "two"
std::string stem(const std::string& name) {
    const std::string file = std::filesystem::path(name).filename().string();
    return file.ends_with(suffix) ? file.substr(0, file.size() - suffix.size()) : file;
}

}  // namespace

Graph read_graph_json(const std::filesystem::path& path, const SymbolValues& set) {
    return read_graph_json(file_text(path), path.string(), set);
}

Graph read_graph_json(std::string_view json, const std::string& name, const SymbolValues& set) {
    Graph graph = graph_from_json(json, name);
    if (graph.name.empty()) graph.name = stem(name);
    for (const auto& [symbol, value] : set) graph = with_symbol(graph, symbol, value);
    return graph;
}

}  // namespace joulecast
