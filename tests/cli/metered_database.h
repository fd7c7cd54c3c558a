#pragma once

#include <string>

#include "tests/train/synthetic.h"

namespace joulecast::testing {

/// A device of 20 W at rest, and more the longer a call takes.
template <class Measured>
void meter(Measured& m) {
    m.energy.emplace();
    m.energy->power_w = 20 + 100 / (1 + 2e-5 / m.time.median_s);
    m.energy->energy_j = m.energy->power_w * m.time.median_s;
    m.energy->idle_power_w = 20;
}

/// Two small networks and their operations, with time, power and energy.
inline void write_metered_database(const std::string& path) {
    Dataset dataset(path);
    const std::vector<Graph> graphs{synthetic_graph("resnet18", 2), synthetic_graph("mobilenet_v2", 2)};
    dataset.insert(synthetic_cpu());
    for (OperationRow row : synthetic_rows(graphs)) {
        meter(row.measurement);
        dataset.insert(row.measurement, row.provenance);
    }
    for (const Graph& graph : graphs) {
        NetworkRow row = synthetic_network(graph);
        meter(row.measurement);
        dataset.insert(row.measurement, row.provenance);
    }
}

}  // namespace joulecast::testing
