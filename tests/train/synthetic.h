#pragma once

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/device/precision.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/learn/random.h"
#include "joulecast/train/train.h"

namespace joulecast::testing {

/// A CPU whose every time is known: (h^8 + d^8)^(1/8) with h = 4 us, twice the arithmetic and 1.5 times the memory time
/// of the data sheet, and for each operation a fixed error of some percent, drawn from its signature.
inline Device synthetic_cpu() {
    Device device;
    device.id = "cpu-synthetic";
    device.display_name = "Synthetic CPU";
    device.units = 2;
    device.max_clock_mhz = 2000;
    device.peak_flop_per_s_fp32 = 1e11;
    device.peak_flop_per_s_bf16 = 2e11;
    device.bandwidth_bytes_per_s = 2e10;
    device.last_level_cache_bytes = 32e6;
    device.memory_bytes = 8e9;
    device.source = "made up for tests";
    return device;
}

inline constexpr double synthetic_noise = 0.03;          // standard deviation of log(time)
inline constexpr double synthetic_network_factor = 1.1;  // networks cost more than their operations

inline double synthetic_seconds(const Operation& operation) {
    std::uint64_t seed = 1469598103934665603ULL;  // FNV-1a
    for (const char c : signature(operation)) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    Random random(seed);
    double normal = -6;  // twelve uniforms have variance one
    for (int i = 0; i < 12; ++i) normal += random.uniform();
    const Law law{4e-6, 2.0, 1.5};
    return seconds(law, roofline(operation, synthetic_cpu())) * std::exp(synthetic_noise * normal);
}

inline OperatingPoint synthetic_point() {
    OperatingPoint point;
    point.device = "cpu-synthetic";
    point.threads = 2;
    return point;
}

inline OperationRow synthetic_row(const Operation& operation) {
    OperationRow row;
    Measurement& m = row.measurement;
    m.operation = operation;
    m.asked = m.real = synthetic_point();
    m.time.mean_s = m.time.median_s = synthetic_seconds(operation);
    m.time.half_width_s = 0.005 * m.time.median_s;
    m.time.blocks = 50;
    m.time.converged = true;
    m.peak_memory_bytes = dimensions(operation).output_bytes;
    row.mode = mode(operation);
    row.provenance.session = "s1";
    row.provenance.started = "2026-01-02T03:04:05Z";
    row.provenance.worker = "synthetic";
    row.provenance.framework = "none";
    row.provenance.machine = "made up";
    row.provenance.governor = "unknown";
    return row;
}

inline Graph synthetic_graph(const std::string& model, std::int64_t batch, Mode mode = Mode::inference,
                             const std::string& precision = "fp32") {
    const auto zoo = std::filesystem::path(JOULECAST_SOURCE_DIR) / "zoo";
    return at_precision(open_model(model, zoo, {{"batch", batch}}), precision_named(precision), mode,
                        Device::Kind::cpu);
}

/// Every operation of the graphs once, but for views and shape arithmetic, which a sweep does not measure either.
inline std::vector<OperationRow> synthetic_rows(const std::vector<Graph>& graphs) {
    std::vector<OperationRow> rows;
    std::set<std::string> seen;
    for (const Graph& graph : graphs) {
        for (const CountedOperation& counted : count_operations(graph)) {
            const Family kind = family(counted.operation);
            if (kind == Family::view || kind == Family::symbolic) continue;
            if (seen.insert(signature(counted.operation)).second) rows.push_back(synthetic_row(counted.operation));
        }
    }
    return rows;
}

/// The graph as if measured: the sum of its operations, times the factor; 2 us for a view.
inline NetworkRow synthetic_network(const Graph& graph, const std::string& precision = "fp32") {
    NetworkRow row;
    NetworkMeasurement& m = row.measurement;
    m.model = graph.name;
    for (const auto& [symbol, value] : graph.symbols) m.symbols[symbol] = value.value;
    m.mode = graph.mode;
    m.precision = precision;
    m.asked = m.real = synthetic_point();
    double sum = 0;
    for (const CountedOperation& counted : count_operations(graph)) {
        const Family kind = family(counted.operation);
        const double one = kind == Family::symbolic ? 0
                           : kind == Family::view   ? 2e-6
                                                    : synthetic_seconds(counted.operation);
        sum += one * static_cast<double>(counted.count);
    }
    m.time.mean_s = m.time.median_s = synthetic_network_factor * sum;
    m.time.half_width_s = 0.005 * sum;
    m.time.blocks = 10;
    row.provenance = synthetic_row(graph.nodes.front().operation).provenance;
    return row;
}

/// The operations of the graphs, and the graphs themselves, on the synthetic CPU.
inline void insert_synthetic(Dataset& dataset, const std::vector<Graph>& graphs) {
    dataset.insert(synthetic_cpu());
    for (const OperationRow& row : synthetic_rows(graphs)) dataset.insert(row.measurement, row.provenance);
    for (const Graph& graph : graphs) {
        const NetworkRow row = synthetic_network(graph);
        dataset.insert(row.measurement, row.provenance);
    }
}

/// Rows made ready for training, as the verbs do it.
inline std::vector<TrainingRow> synthetic_training(const std::vector<Graph>& graphs) {
    OperatingPoint setting;
    return training_rows(synthetic_rows(graphs), synthetic_cpu(), setting);
}

}  // namespace joulecast::testing
