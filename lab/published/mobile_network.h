#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

/// A layer as small engines run it: activations and batch norms inside of their convolution.
struct MobileLayer {
    enum class Kind { convolution, pointwise, depthwise, dense, add, pool, scale, softmax };
    Kind kind = Kind::convolution;
    int kernel = 1;
    double macs = 0;          ///< multiply-adds
    double input = 0;         ///< numbers read, without weights
    double output = 0;        ///< numbers written
    double weights = 0;       ///< numbers
    bool hard_swish = false;  ///< in the place of a ReLU
};

struct MobileNetwork {
    std::string name;       ///< of both precisions: "mobilenet-v2-0.5-128"
    std::string precision;  ///< "fp32", "int8"
    std::vector<MobileLayer> layers;
    double macs() const;
};

/// A network for one image by the name that MLPerf's open division has for it ("mobilenet-v2-0.5-128-quantized",
/// "mobilenet-v3-small_224_0.75_float", "efficientnet-lite3-non-quantized", "resnet50"), built after the papers'
/// tables: MobileNets arXiv:1704.04861, 1801.04381, 1905.02244 (minimalistic: without squeezing, hard swish and 5x5, as
/// TensorFlow's model garden says), EfficientNet arXiv:1905.11946 with the widths and depths of EfficientNet-lite,
/// ResNet-50 v1.5. Nothing for another name.
std::optional<MobileNetwork> mobile_network(std::string_view benchmark);

/// The same by its name and precision.
std::optional<MobileNetwork> mobile_network(const std::string& name, std::string_view precision);

}  // namespace joulecast
