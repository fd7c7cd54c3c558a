#pragma once

#include <string>

namespace joulecast::torch_worker {

/// Bytes that can still be allocated (MemAvailable, and what is left under the control group's limit); 0 if unknown.
double available_memory_bytes(const std::string& root = "");

/// Lets the process grow by what is available and no further, so that an operation that wants more gets an error
/// instead of the kernel's out-of-memory killer. Renewed before every measurement.
void limit_memory_growth();

/// Brings malloc into the state that it reaches by itself in a long-running process (blocks below 32 MB are kept and
/// reused, larger ones are mapped afresh for each call): its threshold adapts to what was freed before, and a
/// measurement must not depend on which one came first. The same default that Python programs run with.
void settle_malloc();

}  // namespace joulecast::torch_worker
