#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Fused attention in float32 on NVIDIA's cards from Ampere on: PyTorch's memory-efficient kernel, which multiplies on
/// tensor cores in three steps of TF32.
bool runs_float32_attention(const PreparedOperation& attention, const Device& device);

/// Seconds of its forward pass. A block of threads takes 64 queries of a head through all keys, 64 at a time, and tiles
/// above the diagonal are left out where it is causal:
///
///     a tile    14,600 cycles for 64 x 64 scores of heads of 64, in proportion for wider ones; or what the card's
///     tensor
///               cores take for its three products at 0.8 of their peak, where that is longer
///     the call  all tiles, 1.7 at a time on each unit, or one block's in turn, where that is longer; and 3 latencies
///
/// Thirteen calls on an H100 and an H200 with heads of 64 and 1 to 2048 queries are told 8 % off in the mean
/// (datasets/h100-sxm.csv, h200-families.csv), of which experts on products of 16 bits told 0.12 to 1.8 times.
double float32_attention_s(const PreparedOperation& attention, const Device& device);

}  // namespace joulecast
