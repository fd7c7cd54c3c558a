#pragma once

#include <string>

#include "joulecast/device/device.h"

namespace joulecast::torch_worker {

/// What the CUDA runtime tells of a card, in its units.
struct CudaProperties {
    std::string name;  ///< "NVIDIA A100-SXM4-40GB"
    int major = 0;     ///< compute capability
    int minor = 0;
    int multiprocessors = 0;
    int clock_khz = 0;  ///< highest SM clock; 0: not told
    int memory_clock_khz = 0;
    int memory_bus_bits = 0;
    double l2_bytes = 0.0;
    double memory_bytes = 0.0;
};

/// Device id from the name that the driver gives: "NVIDIA H200" -> "h200", "Tesla V100-SXM2-32GB" -> "v100-32g-sxm",
/// "NVIDIA GeForce RTX 2080 Ti" -> "rtx2080ti". A name of an unknown form becomes its words with dashes.
std::string gpu_id(const std::string& name, double memory_bytes);

/// Facts of the card: what the runtime tells, and the rest from its data sheet where there is one, which then gives the
/// id too. Else peaks are computed from the clock and the arithmetic units of its architecture (CUDA C++ Programming
/// Guide, table of arithmetic throughput), NaN for architectures that are not in our table.
Device gpu_facts(const CudaProperties& properties);

}  // namespace joulecast::torch_worker
