#pragma once

#include <optional>
#include <span>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Convolutions of contiguous images in two dimensions with a channel for each group, on NVIDIA's GPUs: PyTorch
/// computes them with kernels of its own (aten/src/ATen/native/cuda/DepthwiseConv2d.cu), in float32 on vector units
/// whatever the precision. Images whose channels lie last go to cuDNN.
bool runs_depthwise_kernel(const PreparedOperation& convolution, const Device& device);

/// What the kernel of such a forward pass takes, in seconds, on a device that was never measured
/// (docs/decisions/0030): a thread makes one element of the result, so a unit takes a number of cycles for each, which
/// grows with the places that the window covers (its taps), and reads and writes overlap with that:
///
///     ((elements · (1.3 + c · taps) / (units · clock))³ + (bytes / bandwidth)³)^(1/3) + kernel latency
///
/// c is 0.1 where the kernel was compiled for the window (1, 3 or 5 squared), else 0.144.
double depthwise_forward_s(const PreparedOperation& convolution, const Device& device);

/// Of a unit, for each place of the window and element of the result, where cuDNN computes images whose channels lie
/// last: seven windows of 7 x 7 on an H200 in bf16 take 0.040 to 0.052 beside their bias (datasets/README.md), networks
/// of timm compiled on an RTX 4090 ask for 0.051. Wider windows have no such kernel: ConvMixer's of 9 x 9 take 0.64,
/// and MixNet agrees (docs/decisions/0057).
inline constexpr double cycles_of_tap_of_channels_last = 0.048;
inline constexpr double cycles_of_tap_of_wide_window = 0.64;

/// Images whose channels lie last, in two dimensions, with a channel for each group, on NVIDIA's GPUs.
bool runs_depthwise_with_channels_last(const PreparedOperation& convolution, const Device& device);

/// Of those calls the one with most elements beyond 2^31 - 1, in its images or its result: as it seems the indices of
/// cuDNN's fast kernels reach no further. Absent where none is beyond.
std::optional<BeyondIndices> beyond_indices(std::span<const OperationForecast> operations, const Device& device);

/// What cuDNN takes for these, without the latency of its kernel: hypot(1.25 bytes / bandwidth, elements · taps · c /
/// (units · clock)) with the cycles c above; the wide ones from more than 7 x 7 places on. The share of the bytes is
/// that of timm's compiled networks on an RTX 4090. Ten times that beyond these indices: eleven networks on an RTX 3090
/// and 4090 ask for 9 to 13, and half their batch for 1 (docs/decisions/0062).
double channels_last_depthwise_s(const Dimensions& size, const Device& device);
/// With its latency, of an eager forward pass.
double depthwise_with_channels_last_s(const PreparedOperation& convolution, const Device& device);

/// Of the backward pass of contiguous images: of the gradients that are wanted
///
/// * that of the input like the forward pass, with 2.6 + 0.32 · taps cycles for each of its elements;
/// * that of the weight: a warp goes through the places of an image by 32, for each channel and tap. It takes
///   9.2 cycles of a unit for each step, and 30 for each image.
///
/// In float16 PyTorch gives most windows of 3 and 5 squared over 32 channels or more to cuDNN, of which each gradient
/// takes as long as the forward pass (docs/decisions/0061).
double depthwise_backward_s(const PreparedOperation& convolution, const Device& device);
/// Where channels lie last cuDNN computes all of them, each gradient in what the forward pass of contiguous images
/// takes, or its own where that is longer: MobileNets, MNASNets and LCNets of timm, trained on an RTX 3090 so, are told
/// 6 % off in the median.
double depthwise_backward_with_channels_last_s(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
