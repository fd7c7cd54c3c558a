#include "workers/pretend/random.h"

#include <cmath>
#include <numbers>

namespace joulecast::pretend {
namespace {

std::uint64_t mixed(std::uint64_t seed) {
    seed += 0x9E3779B97F4A7C15ULL;
    seed = (seed ^ (seed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    seed = (seed ^ (seed >> 27U)) * 0x94D049BB133111EBULL;
    return seed ^ (seed >> 31U);
}

}  // namespace

double uniform(std::uint64_t seed) {
    constexpr double parts = 9007199254740992.0;  // 2^53
    return (static_cast<double>(mixed(seed) >> 11U) + 0.5) / parts;
}

double normal(std::uint64_t seed) {
    const double length = std::sqrt(-2.0 * std::log(uniform(seed)));
    return length * std::cos(2.0 * std::numbers::pi * uniform(mixed(seed) + 1));
}

}  // namespace joulecast::pretend
