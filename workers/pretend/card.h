#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/device/device.h"

namespace joulecast::pretend {

/// A pretended processor: what it tells of itself, and the constants of the laws that it truly follows. Nothing that
/// learns may look into the latter.
struct Card {
    Device sheet;                           ///< as hello tells it; rates and bandwidth hold at boost_clock_mhz
    std::vector<double> sm_clocks_mhz;      ///< that can be set, ascending; empty: none can (a CPU)
    std::vector<double> memory_clocks_mhz;  ///< likewise; the highest is what the sheet's bandwidth holds at
    double power_limit_low_w = Device::unknown;
    double power_limit_high_w = Device::unknown;

    // Time (law.h). Shares are of the sheet's rates.
    double matrix_share = 0.8;
    double convolution_share = 0.7;
    double attention_share = 0.6;
    double vector_share = 0.8;
    double bandwidth_share = 0.87;
    double small_tile_share = 0.75;
    double half_depth = 96;
    double half_depth_narrow = 224;
    double launch_s = 2.4e-6;
    double launch_clocked_share = 0.6;
    double overlap_rest = 0.25;
    double cache_bytes_per_cycle = 64;
    double memory_bytes_per_cycle = 14;
    double cache_steepness = 3;
    double bytes_in_flight = 4e5;
    double strided_share = 0.55;
    double gather_share = 0.4;
    double several_pass_share = 0.8;
    double network_effect = 0.01;

    // Host (law.h).
    double python_call_s = 7.5e-6;
    double cpp_call_s = 3e-6;
    double graph_call_s = 1.2e-6;
    double view_call_share = 0.35;
    double backward_call_share = 0.8;

    // Power (power.h).
    double board_w = 20;
    double leakage_w = 20;
    double leakage_per_c = 0.006;
    double clocked_w = 15;
    double gated_share = 0.4;
    double busy_w = 30;
    double joule_per_flop_fp32 = 6e-12;
    double joule_per_flop_narrow = 4e-13;
    double joule_per_cache_byte = 4e-12;
    double joule_per_memory_byte = 5e-11;
    double memory_idle_w = 10;
    double voltage_knee = 0.65;
    double voltage_rise = 0.3;
    double ambient_c = 28;
    double kelvin_per_watt = 0.2;

    // Meter.
    double meter_period_s = 0.1;
    double meter_quantum_j = 1e-3;

    bool is_gpu() const { return sheet.kind == Device::Kind::gpu; }
    bool has(Dtype dtype) const;
    bool has_tf32() const { return sheet.peak_flop_per_s_tf32 > 0; }
    std::vector<Dtype> dtypes() const;
    /// Of a memory clock to the highest; 1 where none can be set.
    double memory_ratio(double memory_clock_mhz) const {
        return memory_clocks_mhz.empty() ? 1.0 : memory_clock_mhz / memory_clocks_mhz.back();
    }
};

/// A constant of the laws; files that describe cards (card_file.h) and docs/pretend.md name them so.
struct Constant {
    std::string_view name;
    std::string_view meaning;
    double Card::* value;
    double low;
    double high;
};
std::span<const Constant> constants();

/// pretend-a, pretend-b, pretend-c and pretend-cpu.
std::vector<Card> built_in_cards();

}  // namespace joulecast::pretend
