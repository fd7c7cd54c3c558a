#pragma once

#include <string>

namespace joulecast {

/// "1 thread", "2 threads".
inline std::string threads_text(int threads) {
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace joulecast
