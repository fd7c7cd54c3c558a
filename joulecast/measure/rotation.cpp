#include "joulecast/measure/rotation.h"

#include <algorithm>
#include <cmath>

namespace joulecast {

double working_set_target(const RotationLimits& limits) {
    if (limits.working_set_bytes > 0.0) return limits.working_set_bytes;
    constexpr double common_cache_bytes = 32.0 * 1024 * 1024;
    return 3.0 * (limits.last_level_cache_bytes > 0.0 ? limits.last_level_cache_bytes : common_cache_bytes);
}

std::int64_t rotation_for(double set_bytes, const RotationLimits& limits) {
    if (!(set_bytes > 0.0)) return 1;
    const double wanted = std::clamp(std::ceil(working_set_target(limits) / set_bytes), 2.0, double{most_sets});
    const double room = std::floor(limits.memory_bytes / 4.0 / set_bytes);
    return static_cast<std::int64_t>(std::max(1.0, std::min(wanted, room)));
}

}  // namespace joulecast
