// Reads the ONNX models whose paths come in on stdin, one a line, sizes to set after it: "model.onnx<TAB>batch=8".
// Prints a line of JSON for each, for onnx_backend_test.py: its outputs and the targets of its nodes, or why it is not
// read.

#include <charconv>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace {

using nlohmann::json;

/// Text between tabs; the rest stays in `line`.
std::string next_field(std::string& line) {
    const std::size_t tab = line.find('\t');
    std::string field = line.substr(0, tab);
    line.erase(0, tab == std::string::npos ? tab : tab + 1);
    return field;
}

joulecast::SymbolValues values_in(std::string line) {
    joulecast::SymbolValues values;
    while (!line.empty()) {
        const std::string field = next_field(line);
        const std::size_t equals = field.find('=');
        std::from_chars(field.data() + equals + 1, field.data() + field.size(), values[field.substr(0, equals)]);
    }
    return values;
}

json described(const joulecast::Graph& graph) {
    json outputs = json::array();
    for (const joulecast::ValueRef ref : graph.outputs) {
        const joulecast::TensorType& type = joulecast::type_of(graph, ref);
        outputs.push_back({{"dtype", std::string(joulecast::name(type.dtype))}, {"sizes", type.sizes}});
    }
    json nodes = json::array();
    for (const joulecast::Node& node : graph.nodes)
        nodes.push_back({{"target", node.operation.target},
                         {"has_record", joulecast::find_record(node.operation.target) != nullptr}});
    return {{"outputs", std::move(outputs)}, {"nodes", std::move(nodes)}};
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const std::string path = next_field(line);
        json answer;
        try {
            answer = described(joulecast::read_onnx(path, values_in(line)));
        } catch (const joulecast::Error& error) {
            answer = {{"refused", error.what()}};
        }
        std::puts(answer.dump(-1, ' ', true, json::error_handler_t::replace).c_str());
    }
    return 0;
}
