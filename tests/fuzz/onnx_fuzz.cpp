// A .onnx file: what is accepted is counted, planned for training, and read anew at other sizes.
#include <cstddef>
#include <cstdint>
#include <span>

#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace {

void use(const joulecast::Graph& graph) {
    for (const auto& [operation, count] : joulecast::count_operations(graph)) joulecast::total_counts(operation);
    const std::string json = joulecast::graph_to_json(graph);
    joulecast::graph_from_json(json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    joulecast::Graph graph;
    try {
        // The seeds' symbols; a file with others is refused with their names.
        try {
            graph = joulecast::read_onnx(bytes, "fuzz.onnx", {{"batch", 2}, {"sequence", 6}});
        } catch (const joulecast::FormatError&) {
            return 0;
        } catch (const joulecast::Error&) {
            graph = joulecast::read_onnx(bytes, "fuzz.onnx", {{"batch", 2}});
        }
    } catch (const joulecast::Error&) {
        return 0;
    }
    try {
        use(graph);
        use(joulecast::to_training(graph));
        for (const auto& [symbol, held] : graph.symbols) use(joulecast::with_symbol(graph, symbol, held.value + 1));
    } catch (const joulecast::Error&) {
        return 0;
    }
    return 0;
}
