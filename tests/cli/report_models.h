#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/graph/operation.h"
#include "tests/train/synthetic.h"

namespace joulecast::testing {

/// Writes a database of three networks, their operations and times; a convolution of resnet18 is four times slower
/// than it should be. Returns its signature.
inline std::string write_three_networks(const std::string& file) {
    Dataset dataset(file);
    dataset.insert(synthetic_cpu());
    std::vector<Graph> graphs;
    for (const char* model : {"resnet18", "vgg11", "alexnet"}) graphs.push_back(synthetic_graph(model, 2));
    auto rows = synthetic_rows(graphs);
    const auto slow = std::ranges::find_if(
        rows, [](const OperationRow& row) { return row.measurement.operation.target == "aten::conv2d"; });
    slow->measurement.time.median_s *= 4;
    slow->measurement.time.mean_s *= 4;
    for (const OperationRow& row : rows) dataset.insert(row.measurement, row.provenance);
    for (const Graph& graph : graphs) {
        const NetworkRow row = synthetic_network(graph);
        dataset.insert(row.measurement, row.provenance);
    }
    return signature(slow->measurement.operation);
}

/// A model whose names want to be markup.
inline constexpr const char* hostile_model =
    R"json({"schema": "joulecast.graph/1", "name": "</script><img src=x onerror=alert(1)>",
 "has_edges": false, "nodes": [
  {"operation": "aten::relu(self=f32[8,64,56,56])", "module": "<img src=x onerror=alert(2)>.</script>",
   "source": "\"><script>alert(3)</script>.py:1", "count": 2},
  {"operation": "aten::linear(input=f32[8,512], weight=f32[1000,512])", "module": "head"}]})json";

}  // namespace joulecast::testing
