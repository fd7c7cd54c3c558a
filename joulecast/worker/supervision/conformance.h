#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace joulecast {

/// One thing that a worker must do, and whether it did.
struct Claim {
    std::string name;  ///< "an unknown operation is `unsupported`"
    bool held = false;
    std::string found;  ///< what it did instead, or a figure worth seeing
};

struct ConformanceOptions {
    std::string command;  ///< run by /bin/sh -c
    std::chrono::milliseconds hello_timeout{60'000};
    std::chrono::milliseconds request_timeout{120'000};
};

/// Talks to a worker as `joulecast profile` would, and as nobody should. Every claim is checked, also after one failed;
/// a worker that has died meanwhile is started again. Throws Error only when no process can be started at all.
std::vector<Claim> check_worker(const ConformanceOptions& options);

}  // namespace joulecast
