#include "joulecast/device/figures.h"

#include <algorithm>
#include <iterator>

namespace joulecast {
namespace {

using Unit = Figure::Unit;

constexpr Figure list[] = {
    {"fp32_lanes_per_unit", "float32 multiply-adds a unit begins in a cycle", Unit::count, &Device::fp32_lanes_per_unit,
     1, 65536},
    {"base_clock_mhz", "base clock", Unit::mhz, &Device::base_clock_mhz, 1, 100000},
    {"boost_clock_mhz", "core clock of the vector rates", Unit::mhz, &Device::boost_clock_mhz, 1, 100000},
    {"matrix_clock_mhz", "core clock of the matrix rates, where it is another", Unit::mhz, &Device::matrix_clock_mhz, 1,
     100000},
    {"max_clock_mhz", "highest core clock one can ask for", Unit::mhz, &Device::max_clock_mhz, 1, 100000},
    {"memory_clock_mhz", "memory clock, two transfers a cycle", Unit::mhz, &Device::memory_clock_mhz, 1, 100000},
    {"memory_bus_bits", "width of the memory bus", Unit::count, &Device::memory_bus_bits, 8, 1048576},
    {"peak_flop_per_s_fp64", "products of float64", Unit::flop_per_s, &Device::peak_flop_per_s_fp64, 1e6, 1e21},
    {"peak_flop_per_s_fp32", "products of float32 in full", Unit::flop_per_s, &Device::peak_flop_per_s_fp32, 1e6, 1e21},
    {"peak_flop_per_s_tf32", "products of float32 as tf32", Unit::flop_per_s, &Device::peak_flop_per_s_tf32, 1e6, 1e21},
    {"peak_flop_per_s_fp16", "products of float16, sums in float32", Unit::flop_per_s, &Device::peak_flop_per_s_fp16,
     1e6, 1e21},
    {"peak_flop_per_s_bf16", "products of bfloat16, sums in float32", Unit::flop_per_s, &Device::peak_flop_per_s_bf16,
     1e6, 1e21},
    {"peak_flop_per_s_fp8", "products of float8, sums in float32", Unit::flop_per_s, &Device::peak_flop_per_s_fp8, 1e6,
     1e21},
    {"peak_flop_per_s_fp4", "products of float4, sums in float32", Unit::flop_per_s, &Device::peak_flop_per_s_fp4, 1e6,
     1e21},
    {"peak_op_per_s_int8", "products of int8, sums in int32", Unit::flop_per_s, &Device::peak_op_per_s_int8, 1e6, 1e21},
    {"vector_flop_per_s_fp64", "element-wise float64", Unit::flop_per_s, &Device::vector_flop_per_s_fp64, 1e6, 1e21},
    {"vector_flop_per_s_fp32", "element-wise float32", Unit::flop_per_s, &Device::vector_flop_per_s_fp32, 1e6, 1e21},
    {"vector_flop_per_s_fp16", "element-wise float16", Unit::flop_per_s, &Device::vector_flop_per_s_fp16, 1e6, 1e21},
    {"vector_flop_per_s_bf16", "element-wise bfloat16", Unit::flop_per_s, &Device::vector_flop_per_s_bf16, 1e6, 1e21},
    {"bandwidth_bytes_per_s", "memory bandwidth", Unit::bytes_per_s, &Device::bandwidth_bytes_per_s, 1e6, 1e18},
    {"last_level_cache_bytes", "last cache before the memory", Unit::bytes, &Device::last_level_cache_bytes, 1, 1e15},
    {"memory_bytes", "memory", Unit::bytes, &Device::memory_bytes, 1e6, 1e18},
    {"tdp_w", "power limit as sold", Unit::watts, &Device::tdp_w, 0.1, 1e6},
    {"min_power_limit_w", "lowest power limit that the driver takes", Unit::watts, &Device::min_power_limit_w, 0.1,
     1e6},
    {"max_power_limit_w", "highest power limit, where it is another", Unit::watts, &Device::max_power_limit_w, 0.1,
     1e6},
    {"idle_w", "power while nothing runs", Unit::watts, &Device::idle_w, 0, 1e6},
    {"process_nm", "node of the compute dies", Unit::nanometres, &Device::process_nm, 0.1, 10000},
    {"release_year", "year of the first shipments", Unit::year, &Device::release_year, 1970, 2200},
};

}  // namespace

std::span<const Figure> figures() {
    return list;
}

const Figure* find_figure(std::string_view name) {
    const auto* found = std::ranges::find(list, name, &Figure::name);
    return found == std::end(list) ? nullptr : found;
}

std::string_view name(Figure::Unit unit) {
    switch (unit) {
        case Unit::mhz:
            return "MHz";
        case Unit::flop_per_s:
            return "FLOP/s";
        case Unit::bytes_per_s:
            return "B/s";
        case Unit::bytes:
            return "B";
        case Unit::watts:
            return "W";
        case Unit::nanometres:
            return "nm";
        case Unit::count:
        case Unit::year:
            break;
    }
    return "";
}

}  // namespace joulecast
