#include "joulecast/device/device.h"

#include <array>
#include <utility>

namespace joulecast {

namespace {

constexpr std::array<std::pair<Math, std::string_view>, 2> math_names = {{{Math::ieee, "ieee"}, {Math::tf32, "tf32"}}};

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

std::string_view name(Math math) {
    return name_in(math_names, math);
}
std::string_view name(Host host) {
    return name_in(host_names, host);
}
std::optional<Math> parse_math(std::string_view text) {
    return value_in(math_names, text);
}
std::optional<Host> parse_host(std::string_view text) {
    return value_in(host_names, text);
}

double peak_flop_per_s(const Device& device, Dtype dtype) {
    switch (dtype) {
        case Dtype::bf16:
        case Dtype::f16:
        case Dtype::f8e4m3fn:
        case Dtype::f8e5m2:
            return device.peak_flop_per_s_bf16;
        case Dtype::f64:
        case Dtype::c128:
            // Half the lanes of a vector register; GPUs for rendering have fewer still, but no network uses float64.
            return device.peak_flop_per_s_fp32 / 2.0;
        default:
            return device.peak_flop_per_s_fp32;
    }
}

}  // namespace joulecast
