#pragma once

#include <string>
#include <string_view>

namespace joulecast::onnx {

/// "layer1.0.conv1" from a node's name as TorchScript's exporter writes it, "/layer1/layer1.0/conv1/Conv"; empty for
/// names without slashes in front.
std::string module_path_of_name(std::string_view node_name);

/// The same from pkg.torch.onnx.name_scopes, which torch.onnx.export(dynamo=True) writes: a Python list of the dotted
/// paths from the root on, with the call's own name last.
std::string module_path_of_scopes(std::string_view scopes);

}  // namespace joulecast::onnx
