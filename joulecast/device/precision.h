#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/graph/graph.h"

namespace joulecast {

/// In which types a network computes. All that knows the words of --precision is here.
enum class Precision {
    torch_default,  ///< f32 tensors, as PyTorch multiplies them where nobody tells it: Math::torch_default
    fp32,           ///< matrix products in f32 proper
    tf32,           ///< f32 tensors, matrix products with operands rounded to 10 bits (GPUs from Ampere on)
    bf16,           ///< the model cast to that type
    fp16,
    amp_bf16,  ///< f32 weights, torch.autocast
    amp_fp16,
    fp8  ///< the model in bf16, its linear layers as products of f8e4m3fn (GPUs from Ada and Hopper on)
};

/// "amp-bf16".
std::string_view name(Precision precision);
std::optional<Precision> parse_precision(std::string_view text);
/// The word, or UsageError naming those that there are.
Precision precision_named(std::string_view text);
/// The same of something that is or was measured, where the default is no answer: UsageError for it, too.
Precision measured_precision_named(std::string_view text);
/// "default, fp32, tf32, bf16, ...", for messages and help.
std::string precision_words();

/// How f32 matrix products are computed at that precision.
Math math_of(Precision precision);
/// The types that tensors have at that precision beside f32: a worker that lacks one cannot measure it.
std::vector<Dtype> dtypes_of(Precision precision);
/// Why no device of that kind computes so; absent where some do.
std::optional<std::string> refusal(Precision precision, Device::Kind kind);
/// Why that device does not, by its data sheet: it has no rate for products of that type. fp16 is refused nowhere: GPUs
/// without a rate for it multiply it in fp32.
std::optional<std::string> refusal(Precision precision, const Device& device);
/// What PyTorch's default is on that device: torch_default where it has tf32, else fp32; any other precision stays.
Precision settled(Precision precision, const Device& device);

/// The graph as it runs at that precision and mode: cast, with autocast's casts, or with products of fp8. Throws
/// UsageError where refusal() has a reason, and UnsupportedError for fp8 in training (the product has no gradient) and
/// for a bag of operations under autocast and fp8.
Graph at_precision(Graph graph, Precision precision, Mode mode, Device::Kind kind);

}  // namespace joulecast
