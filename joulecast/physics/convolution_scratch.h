#pragma once

#include <optional>

#include "joulecast/device/device.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

/// Bytes that eager PyTorch takes beyond the output while aten::conv2d of float32 runs on a CPU, in inference: copies
/// of input, weights and output in blocks of as many channels as a vector register holds (oneDNN's nChw16c and
/// nChw8c), the output's copy back, and lines gathered for strided 1x1 kernels, one for each thread. Small convolutions
/// of one image do without oneDNN and gather columns (ATen/native/Convolution.cpp, use_mkldnn). Within 2 % for 349 of
/// the 356 convolutions of datasets/cpu-amd-epyc-2c.csv. Absent for other operations, types, modes and devices.
std::optional<double> convolution_scratch_bytes(const Operation& operation, const Device& device, int threads);

}  // namespace joulecast
