// The constants of the laws by name, and which types a card computes in.
#include "workers/pretend/card.h"

#include <algorithm>

namespace joulecast::pretend {
namespace {

constexpr Constant list[] = {
    {"matrix_share", "what deep products of matrices reach", &Card::matrix_share, 0.01, 1},
    {"convolution_share", "what deep convolutions reach", &Card::convolution_share, 0.01, 1},
    {"attention_share", "what fused attention reaches", &Card::attention_share, 0.01, 1},
    {"vector_share", "what element-wise arithmetic reaches", &Card::vector_share, 0.01, 1},
    {"bandwidth_share", "what long streams reach of the memory's bandwidth", &Card::bandwidth_share, 0.01, 1},
    {"small_tile_share", "of the rate of tiles twice as wide", &Card::small_tile_share, 0.01, 1},
    {"half_depth", "depth of a float32 product at half of its rate", &Card::half_depth, 0, 1e5},
    {"half_depth_narrow", "the same in tf32 and 16 bits", &Card::half_depth_narrow, 0, 1e5},
    {"launch_s", "of every kernel at the boost clock", &Card::launch_s, 1e-8, 1},
    {"launch_clocked_share", "of that, what follows the clock", &Card::launch_clocked_share, 0, 1},
    {"overlap_rest", "of the shorter of computing and moving, what is not hidden", &Card::overlap_rest, 0, 1},
    {"cache_bytes_per_cycle", "bytes a unit moves from and to the last cache in a cycle", &Card::cache_bytes_per_cycle,
     0.1, 1e5},
    {"memory_bytes_per_cycle", "bytes of memory a unit takes in a cycle: the bandwidth's knee",
     &Card::memory_bytes_per_cycle, 0.1, 1e5},
    {"cache_steepness", "how sharply hits end where the cache is full", &Card::cache_steepness, 0.5, 50},
    {"bytes_in_flight", "bytes that a kernel is longer by, until the memory is busy", &Card::bytes_in_flight, 0, 1e9},
    {"strided_share", "of the bandwidth, copies of other layouts", &Card::strided_share, 0.01, 1},
    {"gather_share", "of the bandwidth, look-ups", &Card::gather_share, 0.01, 1},
    {"several_pass_share", "of the bandwidth, norms, softmax, pools and reductions", &Card::several_pass_share, 0.01,
     1},
    {"network_effect", "standard deviation of a network's own factor", &Card::network_effect, 0, 1},
    {"python_call_s", "host time to issue a call from Python", &Card::python_call_s, 0, 1},
    {"cpp_call_s", "the same from C++", &Card::cpp_call_s, 0, 1},
    {"graph_call_s", "the same for each kernel of a captured graph", &Card::graph_call_s, 0, 1},
    {"view_call_share", "of that, calls without a kernel", &Card::view_call_share, 0, 1},
    {"backward_call_share", "of the time of C++, each kernel of the backward pass", &Card::backward_call_share, 0, 10},
    {"board_w", "power whatever happens", &Card::board_w, 0, 1e5},
    {"leakage_w", "leakage at the lowest voltage and 50 C", &Card::leakage_w, 0, 1e5},
    {"leakage_per_c", "its relative rise with each degree", &Card::leakage_per_c, 0, 0.05},
    {"clocked_w", "power of the clocks at the boost clock and lowest voltage", &Card::clocked_w, 0, 1e5},
    {"gated_share", "of that, what is left while no kernel runs", &Card::gated_share, 0, 1},
    {"busy_w", "power of running any kernel, at the boost clock and lowest voltage", &Card::busy_w, 0, 1e5},
    {"joule_per_flop_fp32", "at the lowest voltage, all wide arithmetic", &Card::joule_per_flop_fp32, 0, 1},
    {"joule_per_flop_narrow", "the same in tf32 and 16 bits on matrix units", &Card::joule_per_flop_narrow, 0, 1},
    {"joule_per_cache_byte", "the same for a byte from or to the last cache", &Card::joule_per_cache_byte, 0, 1},
    {"joule_per_memory_byte", "whatever the voltage", &Card::joule_per_memory_byte, 0, 1},
    {"memory_idle_w", "of the memory at its highest clock", &Card::memory_idle_w, 0, 1e5},
    {"voltage_knee", "share of the highest clock up to which the voltage is lowest", &Card::voltage_knee, 0.01, 1},
    {"voltage_rise", "of the voltage from the knee to the highest clock", &Card::voltage_rise, 0, 3},
    {"ambient_c", "temperature without power", &Card::ambient_c, -50, 90},
    {"kelvin_per_watt", "rise of temperature", &Card::kelvin_per_watt, 0, 10},
    {"meter_period_s", "between renewals of the energy counter", &Card::meter_period_s, 1e-4, 10},
    {"meter_quantum_j", "what the counter is rounded to", &Card::meter_quantum_j, 0, 100},
};

}  // namespace

std::span<const Constant> constants() {
    return list;
}

bool Card::has(Dtype dtype) const {
    switch (dtype) {
        case Dtype::bf16:
            return sheet.peak_flop_per_s_bf16 > 0;
        case Dtype::f16:
            return sheet.peak_flop_per_s_fp16 > 0;
        case Dtype::f8e4m3fn:
        case Dtype::f8e5m2:
            return sheet.peak_flop_per_s_fp8 > 0;
        case Dtype::f64:
        case Dtype::c128:
            return sheet.peak_flop_per_s_fp64 > 0;
        default:
            return true;
    }
}

std::vector<Dtype> Card::dtypes() const {
    std::vector<Dtype> result;
    for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::f8e4m3fn, Dtype::f8e5m2}) {
        if (has(dtype)) result.push_back(dtype);
    }
    return result;
}

}  // namespace joulecast::pretend
