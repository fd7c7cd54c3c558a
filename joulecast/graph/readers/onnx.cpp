#include <algorithm>
#include <set>

#include "joulecast/error.h"
#include "joulecast/graph/readers/onnx_fold.h"
#include "joulecast/graph/readers/onnx_translation.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast {

namespace {

/// Kept by the graphs made from it, to make them anew at other sizes.
struct Network {
    onnx::Model model;
    onnx::Symbols symbols;
    std::string name;
};

Graph shaped(const std::shared_ptr<const Network>& network, const SymbolValues& values) {
    Graph graph = onnx::Translation(network->model, network->symbols, values).graph();
    graph.name = network->name;
    graph.shape_anew =
        std::make_shared<const ShapeAnew>([network](const SymbolValues& others) { return shaped(network, others); });
    return graph;
}

/// Files of IR version 3 list weights among the inputs too.
void drop_stored_inputs(onnx::Body& graph) {
    std::set<std::string_view> stored;
    for (const onnx::Tensor& tensor : graph.initializers) stored.insert(tensor.name);
    std::erase_if(graph.inputs, [&](const onnx::ValueInfo& input) { return stored.contains(input.name); });
}

/// Types of outputs stand beside those of inner values.
void add_output_infos(onnx::Body& graph) {
    for (const onnx::ValueInfo& output : graph.outputs) graph.value_infos.emplace(output.name, output);
}

Graph read(onnx::Source& source, const std::string& name, const SymbolValues& set) {
    try {
        onnx::Model model = onnx::parse_model(source);
        drop_stored_inputs(model.graph);
        onnx::name_unknown_dimensions(model.graph);
        add_output_infos(model.graph);
        onnx::fold(model.graph);
        onnx::Symbols symbols(model.graph);
        return shaped(std::make_shared<const Network>(std::move(model), std::move(symbols), name), set);
    } catch (const FormatError& error) {
        throw FormatError("cannot read " + source.name() + ": " + error.what());
    }
}

}  // namespace

Graph read_onnx(const std::filesystem::path& path, const SymbolValues& set) {
    onnx::Source source(path);
    return read(source, path.stem().string(), set);
}

Graph read_onnx(std::span<const std::byte> bytes, const std::string& name, const SymbolValues& set) {
    onnx::Source source(bytes, name);
    return read(source, std::filesystem::path(name).stem().string(), set);
}

}  // namespace joulecast
