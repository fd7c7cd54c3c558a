// A .graph.json file: what is accepted is counted, planned, re-shaped, and written in a form that is read as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/memory.h"

namespace {

void count(const joulecast::Graph& graph) {
    try {
        for (const auto& [operation, calls] : joulecast::count_operations(graph)) joulecast::total_counts(operation);
        joulecast::plan_memory(graph);
    } catch (const joulecast::Error&) {
        return;
    }
}

void write_and_read(const joulecast::Graph& graph, joulecast::GraphText form) {
    const std::string first = joulecast::graph_to_json(graph, form);
    // Rounding towards the form may lose a symbol's range once, never again.
    const std::string second = joulecast::graph_to_json(joulecast::graph_from_json(first), form);
    if (joulecast::graph_to_json(joulecast::graph_from_json(second), form) != second) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    joulecast::Graph graph;
    try {
        graph = joulecast::read_graph_json(text, "fuzz.graph.json");
    } catch (const joulecast::Error&) {
        return 0;
    }
    count(graph);
    write_and_read(graph, joulecast::GraphText::line);
    write_and_read(graph, joulecast::GraphText::file);
    try {
        count(joulecast::to_training(graph));
        count(joulecast::without_edges(graph));
        for (const auto& [symbol, held] : graph.symbols) count(joulecast::with_symbol(graph, symbol, held.low + 1));
    } catch (const joulecast::Error&) {
        return 0;
    }
    return 0;
}
