// How long reading and counting the zoo takes. Goal: 45 graphs in at most 250 ms.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

const std::string zoo = JOULECAST_SOURCE_DIR "/zoo";

/// FLOPs of every unique operation, as `joulecast extract` counts them.
std::int64_t flops(const Graph& graph) {
    std::int64_t sum = 0;
    for (const CountedOperation& counted : count_operations(graph))
        sum += counted.count * total_counts(counted.operation).flop;
    return sum;
}

/// The first graphs by name, each opened, re-shaped and counted.
void read_and_count(benchmark::State& state, Mode mode) {
    std::vector<std::string> names = zoo_names(zoo);
    names.resize(std::min(names.size(), static_cast<std::size_t>(state.range(0))));
    std::size_t nodes = 0;
    for (auto _ : state) {
        nodes = 0;
        for (const std::string& name : names) {
            Graph graph = open_model(name, zoo, {{"batch", 8}}, mode);
            if (mode == Mode::training) graph = to_training(graph);
            benchmark::DoNotOptimize(flops(graph));
            nodes += graph.nodes.size();
        }
    }
    state.counters["graphs"] = static_cast<double>(names.size());
    state.counters["nodes"] = static_cast<double>(nodes);
}

BENCHMARK_CAPTURE(read_and_count, inference, Mode::inference)->Arg(45)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_and_count, training, Mode::training)->Arg(45)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace joulecast
