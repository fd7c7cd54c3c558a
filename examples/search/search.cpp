// Searches networks of fully connected layers for the cheapest one that is large enough, by forecasts alone.
// usage: search PREDICTOR.jcp DEVICE [OPERATIONS]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include <joulecast/forecast/forecaster.h>
#include <joulecast/graph/graph.h>
#include <joulecast/graph/operation.h>

namespace {

joulecast::Operation layer(long long batch, long long inputs, long long outputs) {
    const std::string in = std::to_string(inputs);
    const std::string out = std::to_string(outputs);
    return joulecast::parse_operation("aten::linear(input=f32[" + std::to_string(batch) + "," + in + "], weight=f32[" +
                                      out + "," + in + "], bias=f32[" + out + "])");
}

/// What a loop over random candidates asks for: the same few thousand layers again and again.
std::vector<joulecast::Operation> candidates(std::size_t count) {
    std::vector<joulecast::Operation> known;
    for (long long inputs = 64; inputs <= 2048; inputs += 64) {
        for (long long outputs = 64; outputs <= 2048; outputs += 64) known.push_back(layer(32, inputs, outputs));
    }
    std::vector<joulecast::Operation> all;
    all.reserve(count);
    unsigned state = 1;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
        all.push_back(known[(state >> 8U) % known.size()]);
    }
    return all;
}

/// So many equal layers between an image of 784 points and ten classes, as a bag of operations.
joulecast::Graph network(long long width, std::int64_t depth) {
    joulecast::Graph graph;
    graph.name = std::to_string(depth) + " layers of " + std::to_string(width);
    graph.has_edges = false;
    const auto add = [&](const joulecast::Operation& operation, std::int64_t count) {
        joulecast::Node node;
        node.operation = operation;
        node.count = count;
        graph.nodes.push_back(node);
    };
    add(layer(32, 784, width), 1);
    add(layer(32, width, width), depth);
    add(layer(32, width, 10), 1);
    return graph;
}

int run(const std::string& predictor, const std::string& device, std::size_t count) {
    // [batch]
    joulecast::Forecaster forecaster(predictor, device);

    const std::vector<joulecast::Operation> operations = candidates(count);
    std::vector<joulecast::OperationCost> costs(operations.size());
    forecaster.forecast(operations, costs);

    double seconds = 0;
    for (const joulecast::OperationCost& cost : costs) seconds += cost.time.value.value();
    std::printf("%zu operations, %zu of them different: %.3g s of work\n", operations.size(),
                static_cast<std::size_t>(forecaster.forecast_anew()), seconds);
    // [batch]

    // [networks]
    std::string best;
    double least = std::numeric_limits<double>::infinity();
    for (long long width = 64; width <= 1024; width += 64) {
        for (std::int64_t depth = 1; depth <= 16; ++depth) {
            if (width * width * depth < 1'000'000) continue;  // too few weights
            const joulecast::NetworkForecast forecast = forecaster.forecast(network(width, depth));
            if (forecast.time.value.value() >= least) continue;
            least = forecast.time.value.value();
            best = forecast.model;
        }
    }
    std::printf("the fastest with a million weights: %s, %.3g s\n", best.c_str(), least);
    // [networks]
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) {
        std::fputs("usage: search PREDICTOR.jcp DEVICE [OPERATIONS]\n", stderr);
        return 2;
    }
    try {
        return run(argv[1], argv[2], argc == 4 ? std::stoul(argv[3]) : 1'000'000);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "search: %s\n", error.what());
        return 1;
    }
}
