#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/tensor_type.h"

namespace joulecast {

/// How matrix products of float32 tensors are computed.
enum class Math { ieee, tf32 };
/// Who issues the operations: Python eager, C++ eager, CUDA graph, or compiled code.
enum class Host { python, cpp, graph, compiled };

std::string_view name(Math math);
std::string_view name(Host host);
std::optional<Math> parse_math(std::string_view text);
std::optional<Host> parse_host(std::string_view text);

/// Facts about a processor, from its data sheet or read from the running system; never handles. NaN: not known.
struct Device {
    enum class Kind { cpu, gpu };

    std::string id;            ///< "h200", "cpu-amd-epyc-..."; lower case without spaces
    std::string display_name;  ///< as the vendor writes it
    Kind kind = Kind::cpu;
    int units = 0;  ///< SMs of a GPU, cores used of a CPU
    double max_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double peak_flop_per_s_fp32 = std::numeric_limits<double>::quiet_NaN();
    double peak_flop_per_s_bf16 = std::numeric_limits<double>::quiet_NaN();
    double bandwidth_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
    double last_level_cache_bytes = std::numeric_limits<double>::quiet_NaN();
    double memory_bytes = std::numeric_limits<double>::quiet_NaN();
    double tdp_w = std::numeric_limits<double>::quiet_NaN();
    double idle_w = std::numeric_limits<double>::quiet_NaN();
    std::string source;  ///< where the figures come from
};

/// Peak arithmetic rate for matrix products of that type, in FLOP/s.
double peak_flop_per_s(const Device& device, Dtype dtype);

/// The processor this program runs on, read from /proc and /sys below `root` (tests pass a folder of their own).
/// Peak and bandwidth are estimates from core count, clock and instruction set; the source says so.
Device this_cpu(const std::string& root = "");

/// Under what conditions something is or was measured.
struct OperatingPoint {
    std::string device;  ///< Device::id
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double power_limit_w = std::numeric_limits<double>::quiet_NaN();
    Math math = Math::ieee;
    Host host = Host::cpp;
    std::string host_cpu;
    int threads = 0;
};

}  // namespace joulecast
