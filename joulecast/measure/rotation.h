#pragma once

#include <cstdint>

namespace joulecast {

/// How many distinct sets of tensors to rotate over.
struct RotationLimits {
    double working_set_bytes = 0;  ///< asked for; 0: three times the last-level cache
    double last_level_cache_bytes = 0;
    double memory_bytes = 0;  ///< of the machine: the sets take a quarter of it at most
};

inline constexpr std::int64_t most_sets = 4096;

/// The bytes to rotate over: those asked for, or three times the last-level cache (32 MiB where it is not known).
double working_set_target(const RotationLimits& limits);

/// Enough sets of `set_bytes` to fill the target. Two sets when one alone is larger than it (so that no call finds its
/// own tensors), one when memory has no room for a second; at most most_sets, so that tiny tensors stay cache-warm:
/// then in a network too they are.
std::int64_t rotation_for(double set_bytes, const RotationLimits& limits);

}  // namespace joulecast
