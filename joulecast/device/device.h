#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/tensor_type.h"

namespace joulecast {

/// How matrix products of float32 tensors are computed. torch_default: as PyTorch sets it where nobody sets it, tf32 in
/// convolutions and recurrent layers, ieee elsewhere (torch.backends.cudnn.allow_tf32 and torch.backends.cuda.matmul).
enum class Math { ieee, tf32, torch_default };
/// Who issues the operations: Python eager, C++ eager, CUDA graph, or compiled code (of tables: nothing here measures
/// or forecasts it).
enum class Host { python, cpp, graph, compiled };

std::string_view name(Math math);
std::string_view name(Host host);
/// What a measurement may have: all but torch_default, of which each operation is one of the others.
std::optional<Math> parse_math(std::string_view text);
/// What can be asked for: all but "compiled".
std::optional<Host> parse_host(std::string_view text);
/// What files may hold: "compiled" too.
std::optional<Host> parse_stored_host(std::string_view text);

/// Kernels take about this long however little they do, on every GPU (smallest times of CUDA graphs' calls in published
/// tables: 1.6 to 2.5 us).
inline constexpr double usual_kernel_latency_s = 2e-6;

/// Facts about a processor, from its data sheet or read from the running system; never handles. NaN: not known, or the
/// device has no such thing. A multiply-add counts two FLOP; all rates are dense, never the doubled ones of structured
/// sparsity. figures.h lists the numbers by name; docs/devices.md tells the rules they are taken by.
struct Device {
    enum class Kind { cpu, gpu };
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    std::string id;            ///< "h200", "cpu-amd-epyc-..."; lower case without spaces
    std::string display_name;  ///< as the vendor writes it
    Kind kind = Kind::cpu;
    std::string vendor;        ///< "nvidia", "amd", "intel", "arm"; empty: not known
    std::string architecture;  ///< "ampere", "hopper", "cdna3"; empty: not known
    int units = 0;             ///< SMs of an NVIDIA GPU, CUs of an AMD one, Xe cores, cores used of a CPU; 0: not known
    double fp32_lanes_per_unit = unknown;  ///< float32 multiply-adds that a unit begins in a cycle

    double base_clock_mhz = unknown;    ///< of the units, that the vendor warrants
    double boost_clock_mhz = unknown;   ///< the data sheet's, at which its vector rates hold
    double matrix_clock_mhz = unknown;  ///< at which its matrix rates hold, where that is another than boost
    double max_clock_mhz = unknown;     ///< the highest that the driver lets one ask for
    double memory_clock_mhz = unknown;  ///< as the driver tells it: two transfers a cycle on each line of the bus
    double memory_bus_bits = unknown;
    /// That can be locked, ascending, as the driver lists them; empty: not told (clock_table_mhz() then takes the steps
    /// of the architecture).
    std::vector<double> core_clocks_mhz;

    /// Matrix products of operands of that type, on matrix units (tensor cores, matrix cores, AMX) where there are any
    /// for the type, accumulated in 32 bits (fp64: in 64); without such units the vector rate.
    double peak_flop_per_s_fp64 = unknown;
    double peak_flop_per_s_fp32 = unknown;  ///< in full float32: no tf32
    double peak_flop_per_s_tf32 = unknown;
    double peak_flop_per_s_fp16 = unknown;
    double peak_flop_per_s_bf16 = unknown;
    double peak_flop_per_s_fp8 = unknown;
    double peak_flop_per_s_fp4 = unknown;
    double peak_op_per_s_int8 = unknown;

    /// Element-wise arithmetic on the vector units (CUDA cores, stream processors, a CPU's vector registers).
    double vector_flop_per_s_fp64 = unknown;
    double vector_flop_per_s_fp32 = unknown;
    double vector_flop_per_s_fp16 = unknown;
    double vector_flop_per_s_bf16 = unknown;

    double bandwidth_bytes_per_s = unknown;   ///< of the memory
    double last_level_cache_bytes = unknown;  ///< L2 of a GPU (AMD from CDNA 3 on: its Infinity Cache), L3 of a CPU
    double memory_bytes = unknown;
    double tdp_w = unknown;              ///< of the whole card or module, as sold: the default power limit
    double min_power_limit_w = unknown;  ///< lowest and highest limit that its driver takes; max_power_limit_w where it
    double max_power_limit_w = unknown;  ///< is another than the one as sold
    double idle_w = unknown;             ///< context alive and nothing running
    double process_nm = unknown;         ///< the foundry's name of the node of the compute dies
    double release_year = unknown;       ///< of the first shipments
    std::string source;                  ///< where the figures come from, in a sentence

    // No figures of a data sheet: as they stand here, but where a model over devices takes them from its rule
    // (physics/sustained_peak.h).
    double sustained_bandwidth_share = 1;  ///< of the bandwidth, what long streams of loads and stores reach
    double sustained_fp32_share = 1;       ///< of the float32 peaks of the sheet; the rates above are held to it
    double kernel_latency_s = usual_kernel_latency_s;  ///< what a kernel takes however little it does
};

/// "cpu" or "gpu".
std::string_view name(Device::Kind kind);
std::optional<Device::Kind> parse_device_kind(std::string_view text);

/// What long streams of loads and stores reach of the memory's bandwidth, in bytes/s.
double streamed_bytes_per_s(const Device& device);

/// Peak rate of matrix products of that type, in FLOP/s; NaN where nothing is known to go by. `math` tells how float32
/// is multiplied. A type that the data sheet has no rate for is computed in the next one that holds its values: fp8 in
/// bf16 or fp16, fp16 in bf16, all of them and tf32 and int8 in fp32; float64 at half the rate of fp32.
double peak_flop_per_s(const Device& device, Dtype dtype, Math math = Math::ieee);

/// Peak rate of element-wise arithmetic in that type, in FLOP/s. A type without a rate of its own is computed in fp32
/// (fp64 at half its rate); where no vector rate is known, peak_flop_per_s stands in.
double vector_flop_per_s(const Device& device, Dtype dtype);

/// Whether the data sheet gives a rate for products of float32 in tf32.
bool has_tf32(const Device& device);

/// The highest clock that the device can be asked for: max_clock_mhz, or boost_clock_mhz where that is not known. MHz.
double highest_clock_mhz(const Device& device);

/// The highest power limit that the device takes: max_power_limit_w, or tdp_w where that is not known. W.
double highest_power_limit_w(const Device& device);

/// The processor this program runs on, read from /proc and /sys below `root` (tests pass a folder of their own).
/// Peak and bandwidth are estimates from core count, clock and instruction set; the source says so.
Device this_cpu(const std::string& root = "");

/// Under what conditions something is or was measured. All of it is the key of a measurement.
struct OperatingPoint {
    std::string device;  ///< Device::id
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double power_limit_w = std::numeric_limits<double>::quiet_NaN();
    Math math = Math::ieee;
    std::string engine = "torch";  ///< the framework whose kernels run, by name without version
    Host host = Host::cpp;
    std::string host_cpu;
    int threads = 0;
};

}  // namespace joulecast
