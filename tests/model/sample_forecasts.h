#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/forecast_operation.h"

namespace joulecast::testing {

/// What a predictor says of one thing; NaN where it knows nothing.
struct SampleForecast {
    std::string name;
    double time_s = std::numeric_limits<double>::quiet_NaN();
    double time_low_s = std::numeric_limits<double>::quiet_NaN();
    double time_high_s = std::numeric_limits<double>::quiet_NaN();
    double energy_j = std::numeric_limits<double>::quiet_NaN();
    double energy_high_j = std::numeric_limits<double>::quiet_NaN();
    double peak_memory_bytes = std::numeric_limits<double>::quiet_NaN();
};

/// Inside and outside of what the samples were trained on, in place and not, without a model of its family, a view.
inline const std::vector<std::string>& sample_operations() {
    static const std::vector<std::string> texts{
        "aten::conv2d(input=f32[2,64,56,56], weight=f32[64,64,3,3], padding=[1,1])",
        "aten::conv2d(input=f32[7,24,40,40], weight=f32[48,24,5,5], stride=[2,2], padding=[2,2])",
        "aten::relu_(self=f32[2,64,56,56])",
        "aten::relu(self=f32[3,1000])",
        "aten::add_.Tensor(self=f32[2,128,28,28], other=f32[2,128,28,28])",
        "aten::linear(input=f32[2,512], weight=f32[1000,512], bias=f32[1000])",
        "aten::batch_norm(input=f32[2,64,56,56], weight=f32[64], bias=f32[64], running_mean=f32[64], "
        "running_var=f32[64], training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)",
        "aten::view(self=f32[2,512,1,1], size=[2,512])",
    };
    return texts;
}

/// The operations, each called as often as its place says.
inline Graph sample_network() {
    Graph graph;
    graph.name = "sample";
    graph.has_edges = false;
    for (const std::string& text : sample_operations()) {
        Node node;
        node.operation = parse_operation(text);
        node.count = static_cast<std::int64_t>(graph.nodes.size() + 1);
        graph.nodes.push_back(std::move(node));
    }
    return graph;
}

/// What a predictor file's first device says of each of the operations, and of the network of all of them.
inline std::vector<SampleForecast> sample_forecasts(const Predictor& predictor) {
    const DeviceModel& device = predictor.devices.front();
    const auto features = columns(predictor);
    std::vector<SampleForecast> all;
    for (const std::string& text : sample_operations()) {
        const auto forecast =
            forecast_operation(device, features, prepare(parse_operation(text), device.device, device.point.math), {});
        const auto& time = forecast.cost.device_time;
        all.push_back({text, time.value.value(), time.low.value(), time.high.value(), forecast.energy.value.value(),
                       forecast.energy.high.value(), forecast.cost.peak_memory.value.value()});
    }
    const auto network = forecast_network(sample_network(), "fp32", device, features, {});
    all.push_back({"network", network.time.value.value(), network.time.low.value(), network.time.high.value(),
                   network.energy.value.value(), network.energy.high.value(), network.cost.peak_memory.value.value()});
    return all;
}

}  // namespace joulecast::testing
