#pragma once

#include <cstdint>
#include <functional>

namespace joulecast::torch_worker {

/// Runs `work` once and returns the most bytes that were allocated through ATen's CPU allocator at any moment above
/// what was allocated before. What libraries allocate behind its back (oneDNN's own scratch) is not seen.
std::int64_t peak_memory(const std::function<void()>& work);

}  // namespace joulecast::torch_worker
