#pragma once

#include <gtest/gtest.h>

#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#include <onnx/defs/parser.h>
#include <onnx/shape_inference/implementation.h>

#include <cstddef>
#include <set>
#include <span>
#include <string>

/// Models written down as text, serialised by the ONNX project's own classes: an encoder that we did not write.
namespace joulecast::testing {

/// The model of `text`, which is what ONNX' parser reads without the header: "g (float[2] x) => (float[2] y) {...}",
/// functions after it. Declared values that nobody makes ("<float[4, 2] w>") become weights whose numbers lie in
/// another file.
inline ::onnx::ModelProto onnx_model(const std::string& text, int opset = 17) {
    const std::string header =
        "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + ", \"local\" : 1, \"com.example\" : 1]>\n";
    ::onnx::ModelProto model;
    const auto status = ::onnx::OnnxParser::Parse(model, (header + text).c_str());
    EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
    std::set<std::string> made;
    for (const auto& node : model.graph().node()) made.insert(node.output().begin(), node.output().end());
    auto& infos = *model.mutable_graph()->mutable_value_info();
    for (int i = infos.size() - 1; i >= 0; --i) {
        if (made.contains(infos[i].name())) continue;
        auto& weight = *model.mutable_graph()->add_initializer();
        weight.set_name(infos[i].name());
        weight.set_data_type(infos[i].type().tensor_type().elem_type());
        for (const auto& dim : infos[i].type().tensor_type().shape().dim()) weight.add_dims(dim.dim_value());
        weight.set_data_location(::onnx::TensorProto::EXTERNAL);
        infos.DeleteSubrange(i, 1);
    }
    return model;
}

inline std::string onnx_bytes(const std::string& text, int opset = 17) {
    return onnx_model(text, opset).SerializeAsString();
}

}  // namespace joulecast::testing
