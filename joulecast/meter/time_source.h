#pragma once

#include <chrono>
#include <functional>

namespace joulecast {

/// Seconds on some clock, passed in so that tests need no real one.
using TimeSource = std::function<double()>;

inline double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace joulecast
