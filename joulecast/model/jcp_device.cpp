#include "joulecast/model/jcp_device.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "joulecast/device/figures.h"
#include "joulecast/model/jcp_parts.h"

namespace joulecast {
namespace {

/// The figures of a device that version 1 began with, in file order; the section SHEE has all of them by name.
template <class AnyDevice>
auto first_figures(AnyDevice& device) {
    return std::array{&device.max_clock_mhz,
                      &device.peak_flop_per_s_fp32,
                      &device.peak_flop_per_s_bf16,
                      &device.bandwidth_bytes_per_s,
                      &device.last_level_cache_bytes,
                      &device.memory_bytes,
                      &device.tdp_w,
                      &device.idle_w};
}

}  // namespace

void put(ByteWriter& out, const Device& device) {
    for (const std::string* text : {&device.id, &device.display_name, &device.source}) out.text(*text);
    out.number(static_cast<std::uint8_t>(device.kind == Device::Kind::gpu));
    out.number(static_cast<std::uint32_t>(std::max(0, device.units)));
    for (const double* figure : first_figures(device)) out.real(*figure);
}

Device take_device(ByteReader& in) {
    Device device;
    for (std::string* text : {&device.id, &device.display_name, &device.source}) *text = in.text();
    device.kind = in.number<std::uint8_t>() == 0 ? Device::Kind::cpu : Device::Kind::gpu;
    device.units = static_cast<int>(std::min<std::uint32_t>(in.number<std::uint32_t>(), 1U << 24U));
    for (double* figure : first_figures(device)) *figure = in.real();  // NaN: not on the data sheet
    return device;
}

void put_sheet(ByteWriter& out, const Device& device) {
    out.text(device.vendor);
    out.text(device.architecture);
    std::vector<const Figure*> known;
    for (const Figure& figure : figures()) {
        if (std::isfinite(device.*figure.value)) known.push_back(&figure);
    }
    out.number(static_cast<std::uint32_t>(known.size()));
    for (const Figure* figure : known) {
        out.text(figure->name);
        out.real(device.*figure->value);
    }
}

void take_sheet(ByteReader& in, Device& device) {
    device.vendor = in.text();
    device.architecture = in.text();
    const std::size_t known = in.count(12);
    for (std::size_t i = 0; i < known; ++i) {
        const std::string key = in.text();
        const double value = take_finite(in);
        // One that a later program added means nothing to the models of a file that this one can read.
        if (const Figure* figure = find_figure(key)) device.*figure->value = value;
    }
}

void put_core_clocks(ByteWriter& out, const Device& device) {
    out.number(static_cast<std::uint32_t>(device.core_clocks_mhz.size()));
    for (const double clock : device.core_clocks_mhz) out.real(clock);
}

void take_core_clocks(ByteReader& in, Device& device) {
    const std::size_t clocks = in.count(8);
    for (std::size_t i = 0; i < clocks; ++i) {
        const double clock = take_finite(in);
        if (!(clock > (device.core_clocks_mhz.empty() ? 0 : device.core_clocks_mhz.back())))
            in.fail("the clocks that its driver lists do not ascend");
        device.core_clocks_mhz.push_back(clock);
    }
}

void put(ByteWriter& out, const OperatingPoint& point) {
    for (const double value : {point.sm_clock_mhz, point.memory_clock_mhz, point.power_limit_w}) out.real(value);
    out.text(name(point.math));
    out.text(name(point.host));
    out.text(point.host_cpu);
    out.number(static_cast<std::uint32_t>(std::max(0, point.threads)));
}

OperatingPoint take_point(ByteReader& in, const std::string& device) {
    OperatingPoint point;
    point.device = device;
    for (double* value : {&point.sm_clock_mhz, &point.memory_clock_mhz, &point.power_limit_w}) *value = in.real();
    point.math = take_name(in, parse_math, "math");
    point.host = take_name(in, parse_stored_host, "host");
    point.host_cpu = in.text();
    point.threads = static_cast<int>(std::min<std::uint32_t>(in.number<std::uint32_t>(), 1U << 20U));
    return point;
}

}  // namespace joulecast
