#pragma once

#include <string>

namespace joulecast::torch_worker {

/// Bytes that can still be allocated (MemAvailable, and what is left under the control group's limit); 0 if unknown.
double available_memory_bytes(const std::string& root = "");

/// Lets the process grow by what is available and no further, so that an operation that wants more gets an error
/// instead of the kernel's out-of-memory killer. Renewed before every measurement.
void limit_memory_growth();

/// Lets malloc keep what is freed, so that pages are faulted in once and not again in every call. By default glibc
/// gives memory back depending on what was freed before: the same network then runs in one of several modes for the
/// whole life of the process (ResNet-18, batch 8: 78, 83 or 99 ms), which neither a forecast nor a second
/// measurement can hit. docs/decisions/0009 has the numbers. Same for operations and whole networks.
void keep_freed_memory();

/// Gives what is free back to the system where that is much: between measurements, so that the next one finds it
/// available to others too, yet need not fault everything in again.
void return_freed_memory();

}  // namespace joulecast::torch_worker
