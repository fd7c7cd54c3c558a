#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// The share of a device's units that have work: each computes a tile of this many rows and columns of the product at a
/// time, so small batches leave others idle. The tile is a usual one of cuDNN's, a judgement: all of timm's batches
/// fill the card.
double busy_share(const Operation& operation, const Device& device);

/// Groups of several channels that are no power of two: cuDNN has no kernel on tensor cores for these as they lie.
bool has_odd_groups(const Operation& operation);

/// What cuDNN takes for a convolution of images whose channels lie last, on tensor cores of a device that was never
/// measured, without the latency of its kernel: it takes images as they are, a convolution is one matrix product, whose
/// bytes and arithmetic are in the way of each other by half:
///
///     hypot(0.9 bytes / bandwidth, FLOP / peak * max(1, 0.77 feeding_of_tensor_cores) / share of units that have work)
///
/// and 3.5 times that for odd groups. Of the bytes a part is in the cache.
/// Fitted to timm's networks on an RTX 4090, eager and compiled (docs/decisions/0035); what it says of eager networks
/// with channels last on that card and an RTX 3090 was looked at afterwards (docs/decisions/0061).
double channels_last_convolution_s(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
