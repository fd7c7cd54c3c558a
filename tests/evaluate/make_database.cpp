// Writes a small database of the synthetic CPU to the path given.
#include "tests/train/synthetic.h"

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    using namespace joulecast;
    Dataset dataset(argv[1]);
    dataset.insert(testing::synthetic_cpu());
    const std::vector<Graph> graphs{testing::synthetic_graph("resnet18", 2), testing::synthetic_graph("vit_b_16", 2)};
    for (const OperationRow& row : testing::synthetic_rows(graphs)) {
        dataset.insert(row.measurement, row.provenance);
    }
    for (const Graph& graph : graphs) {
        const NetworkRow row = testing::synthetic_network(graph);
        dataset.insert(row.measurement, row.provenance);
    }
    return 0;
}
