#include "joulecast/device/device.h"

#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace joulecast {

namespace {

constexpr std::array<std::pair<Math, std::string_view>, 3> math_names = {
    {{Math::ieee, "ieee"}, {Math::tf32, "tf32"}, {Math::torch_default, "default"}}};

constexpr std::array<std::pair<Host, std::string_view>, 4> host_names = {
    {{Host::python, "python"}, {Host::cpp, "cpp"}, {Host::graph, "graph"}, {Host::compiled, "compiled"}}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
    for (const auto& [entry, text] : table) {
        if (entry == value) return text;
    }
    return "";
}

template <class Value, std::size_t size>
std::optional<Value> value_in(const std::array<std::pair<Value, std::string_view>, size>& table,
                              std::string_view text) {
    for (const auto& [entry, entry_name] : table) {
        if (entry_name == text) return entry;
    }
    return std::nullopt;
}

}  // namespace

std::string_view name(Device::Kind kind) {
    return kind == Device::Kind::cpu ? "cpu" : "gpu";
}
std::optional<Device::Kind> parse_device_kind(std::string_view text) {
    if (text == "cpu") return Device::Kind::cpu;
    if (text == "gpu") return Device::Kind::gpu;
    return std::nullopt;
}

std::string_view name(Math math) {
    return name_in(math_names, math);
}
std::string_view name(Host host) {
    return name_in(host_names, host);
}
std::optional<Math> parse_math(std::string_view text) {
    const auto math = value_in(math_names, text);
    return math == Math::torch_default ? std::nullopt : math;
}
std::optional<Host> parse_host(std::string_view text) {
    const auto host = parse_stored_host(text);
    return host == Host::compiled ? std::nullopt : host;
}
std::optional<Host> parse_stored_host(std::string_view text) {
    return value_in(host_names, text);
}

namespace {

double first_known(std::initializer_list<double> rates) {
    for (const double rate : rates) {
        if (!std::isnan(rate)) return rate;
    }
    return Device::unknown;
}

}  // namespace

double peak_flop_per_s(const Device& device, Dtype dtype, Math math) {
    const Device& d = device;
    switch (dtype) {
        case Dtype::f8e4m3fn:
        case Dtype::f8e5m2:
            return first_known(
                {d.peak_flop_per_s_fp8, d.peak_flop_per_s_bf16, d.peak_flop_per_s_fp16, d.peak_flop_per_s_fp32});
        case Dtype::bf16:
            return first_known({d.peak_flop_per_s_bf16, d.peak_flop_per_s_fp32});
        case Dtype::f16:
            return first_known({d.peak_flop_per_s_fp16, d.peak_flop_per_s_bf16, d.peak_flop_per_s_fp32});
        case Dtype::i8:
        case Dtype::u8:
            return first_known({d.peak_op_per_s_int8, d.peak_flop_per_s_fp32});
        case Dtype::f64:
        case Dtype::c128:
            return first_known({d.peak_flop_per_s_fp64, d.peak_flop_per_s_fp32 / 2.0});
        case Dtype::f32:
        case Dtype::c64:
            return math == Math::tf32 ? first_known({d.peak_flop_per_s_tf32, d.peak_flop_per_s_fp32})
                                      : d.peak_flop_per_s_fp32;
        default:
            return d.peak_flop_per_s_fp32;
    }
}

double streamed_bytes_per_s(const Device& device) {
    return device.sustained_bandwidth_share * device.bandwidth_bytes_per_s;
}

double vector_flop_per_s(const Device& device, Dtype dtype) {
    const Device& d = device;
    const double fp32 = first_known({d.vector_flop_per_s_fp32, d.peak_flop_per_s_fp32});
    switch (dtype) {
        case Dtype::bf16:
            return first_known({d.vector_flop_per_s_bf16, fp32});
        case Dtype::f16:
            return first_known({d.vector_flop_per_s_fp16, fp32});
        case Dtype::f64:
        case Dtype::c128:
            return first_known({d.vector_flop_per_s_fp64, fp32 / 2.0});
        default:
            return fp32;
    }
}

bool has_tf32(const Device& device) {
    return device.peak_flop_per_s_tf32 > 0;
}

double highest_clock_mhz(const Device& device) {
    return first_known({device.max_clock_mhz, device.boost_clock_mhz});
}

double highest_power_limit_w(const Device& device) {
    return first_known({device.max_power_limit_w, device.tdp_w});
}

}  // namespace joulecast
