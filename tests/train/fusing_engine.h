#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "joulecast/forecast/fused_calls.h"
#include "joulecast/graph/family.h"
#include "joulecast/model/fusion_calls.h"
#include "tests/train/synthetic.h"

namespace joulecast::testing {

/// An engine that runs a batch norm, and an activation behind it, in the kernel of a convolution, and no view.
inline std::vector<NetworkKernel> fused_kernels(const Graph& graph) {
    std::vector<NetworkKernel> kernels;
    std::map<std::int32_t, std::size_t> kernel_of;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const auto number = static_cast<std::int32_t>(i);
        if (costs_nothing(family(node.operation))) continue;
        const std::string name = plain_name(node.operation);
        const auto made = node.inputs.empty() ? kernel_of.end() : kernel_of.find(node.inputs.front().node);
        const bool is_behind = made != kernel_of.end() && kernels[made->second].kernel == "Conv" &&
                               (name == "batch_norm" || name == "relu" || name == "hardtanh");
        if (is_behind) {
            kernels[made->second].operations.push_back(number);
            kernel_of[number] = made->second;
        } else {
            kernel_of[number] = kernels.size();
            kernels.push_back({name == "conv2d" ? "Conv" : name, {number}});
        }
    }
    return kernels;
}

/// An engine that runs what computes or moves elements one by one in the kernel of what it reads, where that does the
/// same and has no other reader; one that reads one value alone is in no kernel where it hands it on as it is.
inline std::vector<NetworkKernel> pointwise_kernels(const Graph& graph) {
    const std::vector<FusionCall> calls = fusion_calls(graph);
    const ReadCounts reads = read_counts(graph);
    std::vector<NetworkKernel> kernels;
    std::map<std::int32_t, std::size_t> kernel_of;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const auto node = static_cast<std::int32_t>(i);
        if (calls[i].moved == Moved::same || calls[i].moved == Moved::kept || calls[i].is_arithmetic) continue;
        kernel_of[node] = kernels.size();
        for (const ValueRef& input : graph.nodes[i].inputs) {
            const auto made = kernel_of.find(input.node);
            if (made == kernel_of.end() || reads.at({input.node, input.output}) > 1) continue;
            if (!calls[i].is_pointwise() || !calls[static_cast<std::size_t>(input.node)].is_pointwise()) continue;
            kernels.push_back({"Shared", {input.node, node}});
        }
        kernels.push_back({calls[i].name, {node}});
    }
    return kernels;
}

/// A network on that engine: what is fused takes a tenth of what it takes alone, what computes nothing takes nothing.
inline TrainingNetwork fused_network(const std::string& model) {
    TrainingNetwork network{synthetic_graph(model, 2), {}, "fuser 1.0"};
    network.measurement = synthetic_network(network.graph).measurement;
    network.measurement.kernels = fused_kernels(network.graph);
    double sum = 0;
    for (const NetworkKernel& kernel : network.measurement.kernels) {
        for (const std::int32_t node : kernel.operations) {
            const double alone = synthetic_seconds(network.graph.nodes[static_cast<std::size_t>(node)].operation);
            sum += node == kernel.operations.front() ? alone : 0.1 * alone;
        }
    }
    network.measurement.time.mean_s = network.measurement.time.median_s = sum;
    return network;
}

inline const std::vector<std::string>& fused_models() {
    static const std::vector<std::string> models{"resnet18", "mobilenet_v2", "mnasnet1_0", "squeezenet1_1", "resnet50"};
    return models;
}

/// A device that was trained on networks of that engine.
inline DeviceModel fusing_device(const std::vector<std::string>& models = fused_models()) {
    std::vector<TrainingNetwork> networks;
    std::vector<Graph> graphs;
    for (const std::string& model : models) {
        networks.push_back(fused_network(model));
        graphs.push_back(networks.back().graph);
    }
    TrainSettings settings;
    settings.trees = 10;
    settings.learner = Learner::extra_trees;
    OperatingPoint point = synthetic_point();
    return train_device(synthetic_cpu(), point, synthetic_training(graphs), networks, settings);
}

}  // namespace joulecast::testing
