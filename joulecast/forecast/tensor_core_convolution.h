#pragma once

#include <optional>

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Convolutions that cuDNN computes on tensor cores: in 16 bits or TF32, over all channels at once. One of TF32 whose
/// channels make up no whole 16 bytes is computed in float32.
bool runs_on_tensor_cores(const PreparedOperation& convolution, const Device& device);

/// What the kernels of such a forward pass take, in seconds, on a device that was never measured (docs/decisions/0029,
/// 0041):
///
///     arithmetic  +  passes · bytes / bandwidth  +  8 · kernel latency
///     arithmetic  =  FLOP / peak · feeding · misfit
///
/// * feeding = 1 + (operand bytes that a unit multiplies in a cycle at peak) / (those that its shared memory brings).
///   In TF32 on Hopper what it brings goes by the tile, which is as wide as the result has channels.
/// * The kernels want channels last. Contiguous images are turned before and after, so all bytes move twice: two
///   passes.
/// * A 1x1 convolution of stride 1 is a product of matrices as it lies: it takes one pass, and of arithmetic and pass
///   the longer hides the other, and it takes two latencies. Where the pixels of an image are no multiple of 4 its rows
///   are not aligned: then misfit is 2 (else 1), and it takes two passes, but for 16-bit images of 100 pixels and more.
///   On Hopper misfit is 2 where rows are no multiple of 16 bytes.
/// * A transposed convolution with a stride takes five passes.
double tensor_core_convolution_s(const PreparedOperation& convolution, const Device& device);

/// How much longer the arithmetic of convolutions takes than at the peak: `feeding` above, in tiles of 64 x 64.
double feeding_of_tensor_cores(const Device& device, Dtype type, Math math);

/// Of a 1x1 convolution that the forward pass takes as it lies, the weight's gradient: it sums over places, along which
/// neither image lies, so that both are turned for it. Arithmetic, two passes of the bytes and eight latencies. 39
/// training calls on an H100 and an H200 were told 34 % short in the mean by the forward pass alone, and are 19 % too
/// long: 0.51 and 0.23 as mean of abs(log) (docs/decisions/0054). Absent for all others.
std::optional<double> weight_gradient_of_product_s(const PreparedOperation& convolution, const Device& device);

/// Bytes that cuDNN takes for images that it turns: copies of input and result with their channels last, and of the
/// weight where it has more than one place. 0 where they lie so, where a product takes them as they are, and where
/// channels do not fill 16 bytes. Of 37 turned forward passes in TF32 and bf16 on an H100 and an H200 it tells 30
/// within 1.5 % (datasets/README.md), five less than they take, at least 0.68 times, and two more, at most twice.
double turned_images_bytes(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
