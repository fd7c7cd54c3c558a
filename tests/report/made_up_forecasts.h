#pragma once

#include <string>

#include "joulecast/report/chapters.h"

namespace joulecast::testing {

template <class Unit>
Estimate<Unit> around(double value) {
    return {Unit(value), Unit(0.9 * value), Unit(1.1 * value)};
}

/// A made-up device of 1 TFLOP/s and 100 GB/s.
inline Device made_up_device(const std::string& name) {
    Device device;
    device.id = name;
    device.display_name = name;
    device.kind = Device::Kind::gpu;
    device.peak_flop_per_s_fp32 = 1e12;
    device.vector_flop_per_s_fp32 = 1e12;
    device.bandwidth_bytes_per_s = 1e11;
    device.memory_bytes = 1e9;
    return device;
}

/// Two layers in modules "body" and "head", of 3 and 1 ms, 0.3 and 0.2 J.
inline ReportedForecast made_up_forecast(const std::string& model, const std::string& device) {
    ReportedForecast one;
    NetworkForecast& n = one.network;
    n.model = model;
    n.device = device;
    n.symbols = {{"batch", 2}};
    n.time = around<Seconds>(4e-3);
    n.energy = around<Joules>(0.5);
    n.power = around<Watts>(125);
    n.resident_bytes = 1e6;
    n.cost.peak_memory = around<Bytes>(2e6);
    n.evidence_share = {{Evidence::interpolated, 0.75}, {Evidence::analytic, 0.25}};
    one.device = made_up_device(device);
    struct Layer {
        const char* operation;
        const char* module;
        const char* source;
        double time_s;
        double energy_j;
    };
    for (const Layer& layer :
         {Layer{"aten::linear(input=f32[2,512], weight=f32[512,512])", "body.0", "net.py:7", 3e-3, 0.3},
          Layer{"aten::relu(self=f32[2,512])", "head", "net.py:9", 1e-3, 0.2}}) {
        Node node;
        node.operation = parse_operation(layer.operation);
        node.module_path = layer.module;
        node.source_line = layer.source;
        one.graph.nodes.push_back(node);
        OperationForecast operation;
        operation.operation = node.operation;
        operation.cost.device_time = around<Seconds>(layer.time_s);
        operation.energy = around<Joules>(layer.energy_j);
        n.operations.push_back(operation);
    }
    return one;
}

}  // namespace joulecast::testing
