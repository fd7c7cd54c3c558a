// The four pretended devices. No two share a constant that matters; none is a real card.
#include "workers/pretend/card.h"

namespace joulecast::pretend {
namespace {

constexpr double mib = 1048576.0;
constexpr double gib = 1024 * mib;

std::vector<double> clocks(double from, double to, double step) {
    std::vector<double> list;
    for (int i = 0; from + i * step <= to; ++i) list.push_back(from + i * step);
    return list;
}

Device sheet(const std::string& id, int units, double boost_mhz) {
    Device device;
    device.id = id;
    device.kind = Device::Kind::gpu;
    device.vendor = "pretended";
    device.architecture = "pretended";
    device.units = units;
    device.fp32_lanes_per_unit = 64;
    device.boost_clock_mhz = device.max_clock_mhz = boost_mhz;
    device.base_clock_mhz = 0.7 * boost_mhz;
    // Two FLOP a lane and cycle.
    device.vector_flop_per_s_fp32 = device.peak_flop_per_s_fp32 = 128.0 * units * boost_mhz * 1e6;
    device.vector_flop_per_s_fp16 = 2 * device.vector_flop_per_s_fp32;
    device.peak_flop_per_s_fp64 = device.vector_flop_per_s_fp64 = 0.5 * device.vector_flop_per_s_fp32;
    device.release_year = 2021;
    device.source = "pretended: the data sheet of a card that does not exist";
    return device;
}

/// Middle-sized, of a low power limit that heavy operations meet.
Card card_a() {
    Card card;
    card.sheet = sheet("pretend-a", 56, 1500);
    card.sheet.display_name = "Pretended card A (no real hardware)";
    card.sheet.peak_flop_per_s_fp16 = card.sheet.peak_flop_per_s_bf16 = 16 * card.sheet.peak_flop_per_s_fp32;
    card.sheet.peak_flop_per_s_tf32 = 8 * card.sheet.peak_flop_per_s_fp32;
    card.sheet.memory_clock_mhz = 1200;
    card.sheet.memory_bus_bits = 3072;
    card.sheet.bandwidth_bytes_per_s = 9.2e11;
    card.sheet.last_level_cache_bytes = 24 * mib;
    card.sheet.memory_bytes = 24 * gib;
    card.sheet.tdp_w = 165;
    card.sheet.idle_w = 36;
    card.sm_clocks_mhz = clocks(300, 1500, 50);
    card.memory_clocks_mhz = {1200};
    card.power_limit_low_w = 100;
    card.power_limit_high_w = 165;
    card.board_w = 9;
    card.leakage_w = 11;
    card.clocked_w = 14;
    card.busy_w = 28;
    card.memory_idle_w = 6;
    card.joule_per_flop_fp32 = 5.2e-12;
    card.joule_per_flop_narrow = 3.6e-13;
    return card;
}

/// Older: neither bf16 nor tf32, a small cache, two memory clocks, voltage that rises early.
Card card_b() {
    Card card;
    card.sheet = sheet("pretend-b", 80, 1530);
    card.sheet.display_name = "Pretended card B (no real hardware)";
    card.sheet.peak_flop_per_s_fp16 = 8 * card.sheet.peak_flop_per_s_fp32;
    card.sheet.memory_clock_mhz = 880;
    card.sheet.memory_bus_bits = 4096;
    card.sheet.bandwidth_bytes_per_s = 9e11;
    card.sheet.last_level_cache_bytes = 6 * mib;
    card.sheet.memory_bytes = 16 * gib;
    card.sheet.tdp_w = 250;
    card.sheet.idle_w = 52;
    card.sheet.release_year = 2018;
    card.sm_clocks_mhz = clocks(450, 1530, 60);
    card.memory_clocks_mhz = {440, 880};
    card.power_limit_low_w = 120;
    card.power_limit_high_w = 250;
    card.matrix_share = 0.71;
    card.convolution_share = 0.78;
    card.attention_share = 0.41;
    card.bandwidth_share = 0.82;
    card.half_depth = 140;
    card.half_depth_narrow = 410;
    card.launch_s = 3.3e-6;
    card.overlap_rest = 0.38;
    card.memory_bytes_per_cycle = 11;
    card.cpp_call_s = 3.6e-6;
    card.python_call_s = 8.8e-6;
    card.board_w = 14;
    card.leakage_w = 14;
    card.clocked_w = 20;
    card.busy_w = 42;
    card.memory_idle_w = 7;
    card.joule_per_flop_fp32 = 7.4e-12;
    card.joule_per_flop_narrow = 8e-13;
    card.joule_per_memory_byte = 6.5e-11;
    card.voltage_knee = 0.55;
    card.voltage_rise = 0.42;
    card.kelvin_per_watt = 0.16;
    return card;
}

/// Large: many units, a large cache, voltage that rises late, memory that needs a high clock to be read in full.
Card card_c() {
    Card card;
    card.sheet = sheet("pretend-c", 132, 1980);
    card.sheet.display_name = "Pretended card C (no real hardware)";
    card.sheet.fp32_lanes_per_unit = 128;
    card.sheet.vector_flop_per_s_fp32 = card.sheet.peak_flop_per_s_fp32 = 2 * card.sheet.peak_flop_per_s_fp32;
    card.sheet.vector_flop_per_s_fp16 = card.sheet.vector_flop_per_s_bf16 = 2 * card.sheet.vector_flop_per_s_fp32;
    card.sheet.peak_flop_per_s_fp16 = card.sheet.peak_flop_per_s_bf16 = 14.5 * card.sheet.peak_flop_per_s_fp32;
    card.sheet.peak_flop_per_s_tf32 = 7.25 * card.sheet.peak_flop_per_s_fp32;
    card.sheet.memory_clock_mhz = 2600;
    card.sheet.memory_bus_bits = 5120;
    card.sheet.bandwidth_bytes_per_s = 3.3e12;
    card.sheet.last_level_cache_bytes = 50 * mib;
    card.sheet.memory_bytes = 80 * gib;
    card.sheet.tdp_w = 600;
    card.sheet.idle_w = 100;
    card.sheet.release_year = 2023;
    card.sm_clocks_mhz = clocks(360, 1980, 60);
    card.memory_clocks_mhz = {2600};
    card.power_limit_low_w = 200;
    card.power_limit_high_w = 600;
    card.matrix_share = 0.69;
    card.convolution_share = 0.58;
    card.attention_share = 0.66;
    card.bandwidth_share = 0.9;
    card.half_depth = 120;
    card.half_depth_narrow = 520;
    card.launch_s = 1.9e-6;
    card.overlap_rest = 0.15;
    card.memory_bytes_per_cycle = 19;
    card.bytes_in_flight = 1.6e6;
    card.cpp_call_s = 2.6e-6;
    card.python_call_s = 6.2e-6;
    card.board_w = 30;
    card.leakage_w = 28;
    card.clocked_w = 40;
    card.busy_w = 95;
    card.memory_idle_w = 15;
    card.joule_per_flop_fp32 = 3.4e-12;
    card.joule_per_flop_narrow = 2.7e-13;
    card.joule_per_memory_byte = 3.4e-11;
    card.voltage_knee = 0.74;
    card.voltage_rise = 0.33;
    card.kelvin_per_watt = 0.07;
    return card;
}

/// Eight cores; computes where it issues, its clock cannot be set.
Card cpu() {
    Card card;
    card.sheet.id = "pretend-cpu";
    card.sheet.display_name = "Pretended CPU (no real hardware)";
    card.sheet.vendor = "pretended";
    card.sheet.architecture = "pretended";
    card.sheet.units = 8;
    card.sheet.fp32_lanes_per_unit = 16;
    card.sheet.base_clock_mhz = 2400;
    card.sheet.boost_clock_mhz = card.sheet.max_clock_mhz = 3200;
    card.sheet.peak_flop_per_s_fp32 = card.sheet.vector_flop_per_s_fp32 = 8.192e11;
    card.sheet.peak_flop_per_s_fp64 = card.sheet.vector_flop_per_s_fp64 = 4.096e11;
    card.sheet.peak_flop_per_s_bf16 = 1.6384e12;
    card.sheet.bandwidth_bytes_per_s = 8e10;
    card.sheet.last_level_cache_bytes = 32 * mib;
    card.sheet.memory_bytes = 64 * gib;
    card.sheet.tdp_w = 120;
    card.sheet.release_year = 2022;
    card.sheet.source = "pretended: the data sheet of a processor that does not exist";
    card.matrix_share = 0.85;
    card.convolution_share = 0.62;
    card.bandwidth_share = 0.74;
    card.half_depth = 24;
    card.half_depth_narrow = 48;
    card.launch_s = 1.2e-6;
    card.cache_bytes_per_cycle = 12;
    card.memory_bytes_per_cycle = 6;
    card.bytes_in_flight = 2e4;
    card.overlap_rest = 0.45;
    card.python_call_s = 3.4e-6;
    card.cpp_call_s = 0.9e-6;
    card.board_w = 12;
    card.leakage_w = 10;
    card.clocked_w = 16;
    card.busy_w = 20;
    card.joule_per_flop_fp32 = 2.4e-11;
    card.joule_per_flop_narrow = 1.1e-11;
    card.joule_per_memory_byte = 1.5e-10;
    card.memory_idle_w = 4;
    card.kelvin_per_watt = 0.35;
    card.meter_period_s = 1e-3;
    card.meter_quantum_j = 6.1e-5;
    return card;
}

}  // namespace

std::vector<Card> built_in_cards() {
    return {card_a(), card_b(), card_c(), cpu()};
}

}  // namespace joulecast::pretend
