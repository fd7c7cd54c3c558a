#pragma once

#include <cstdint>
#include <string_view>

namespace joulecast::pretend {

/// FNV-1a: the same on every machine, so that seeds are.
inline std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xCBF29CE484222325ULL) {
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
    return hash;
}

/// A number between 0 and 1 that the seed decides (splitmix64).
double uniform(std::uint64_t seed);
/// One of the standard normal distribution that the seed decides.
double normal(std::uint64_t seed);

}  // namespace joulecast::pretend
