#pragma once

#include <optional>

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// What PyTorch copies before it multiplies matrices or convolves, and adds after (torch 2.13).
///
/// A linear layer of three dimensions or more whose input is no matrix as it lies (the image tokens of a vision
/// transformer whose batch does not come first) is copied into one for a weight that requires a gradient, as a
/// parameter does in inference too, and the bias is added by a kernel of its own (linear() and should_fold() in
/// ATen/native/Linear.cpp and LinearAlgebra.cpp).
///
/// matmul of two batches of matrices makes one batch dimension of all (reshape() in _matmul_impl(), LinearAlgebra.cpp)
/// and copies an operand whose dimensions cannot be joined as they lie: attention that is written out copies query,
/// key and value of the heads that a projection left between the tokens.

/// A convolution takes images that lie whole, either way: of a part of the channels (MixNet, Res2Net, ShuffleNet split
/// them) it makes a copy first (contiguous() in ATen/native/cudnn/ConvShared.cpp and cuda/DepthwiseConv2d.cu).
///
/// A matmul as its kernel sees it, with the copies in place of the operands; absent where nothing is copied. Linear
/// layers whose input is copied stay as they are: what experts say of turned operands comes nearer to what an H100
/// takes.
std::optional<Operation> as_multiplied(const Operation& product);

/// Kernels beside the product or convolution.
double copying_kernels(const Operation& product);

/// What a GPU takes for them beside the product, in seconds: the bytes that they move, streamed; on those of NVIDIA no
/// less than 0.65 cycles of a unit for each element, as all kernels whose operands lie apart, or 1.75 for one that is
/// read across (eager_kernels.h). 0 for other calls and devices without a bandwidth.
double copying_s(const PreparedOperation& product, const Device& device);

/// Bytes of the copies, which live until the product is done; on every device. 0 for convolutions.
double copied_bytes(const Operation& product);

/// Bytes of the images that a convolution copies, and of those that cuDNN turns then (tensor_core_convolution.h).
double image_copies_bytes(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
