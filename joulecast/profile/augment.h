#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/profile/request.h"

namespace joulecast {

/// An operation to measure that no network of the request calls.
struct Sample {
    Operation operation;
    Math math = Math::ieee;
};

struct AugmentSettings {
    std::int64_t count = 0;  ///< variants in all
    std::uint64_t seed = 1;
    /// Of the device: a variant's tensors, gradients included, take most_held_bytes() of it.
    double memory_bytes = std::numeric_limits<double>::quiet_NaN();
};

/// What an operation's tensors may take of a device's memory, which has to hold it several times over to measure it: a
/// quarter; 1 GiB where the memory is not known.
double most_held_bytes(double memory_bytes);

/// Variants of the variations' operations, after Sponner et al. 2022 (AI-driven performance modeling for AI inference
/// workloads, section 4.1): convolutions with other groups (depthwise too), dilation, filters, kernels and strides;
/// dense layers with random features; other windows of pools, maximum for average; and for all that, element-wise
/// operations, norms and softmax other batches or sizes, for attention other sequences. Types, layout and marks of
/// training are those of the operation varied. Each can be computed (its record says so), fits into the memory, has at
/// most four times the FLOPs of the largest operation varied or 1e10, and is neither one of the variations' operations
/// nor there twice. The same for the same variations and settings, on every machine and whatever has been measured: so
/// a sweep can be resumed. Fewer than asked for where not so many can be found.
std::vector<Sample> augment(const std::vector<Variation>& variations, const AugmentSettings& settings);

}  // namespace joulecast
