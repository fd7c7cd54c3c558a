#include "joulecast/model/jcp_kept.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "joulecast/measure/measurement.h"
#include "joulecast/model/jcp_device.h"
#include "joulecast/model/jcp_parts.h"

namespace joulecast {
namespace {

constexpr std::uint8_t kept_version = 2;
constexpr std::uint8_t first_with_ways_by_work = 2;
constexpr std::uint8_t is_of_device_bit = 1;
constexpr std::uint8_t is_telling_bit = 2;

template <class Unit>
void put(ByteWriter& out, const Estimate<Unit>& estimate) {
    for (const Unit& value : {estimate.value, estimate.low, estimate.high}) out.real(value.value());
}

template <class Unit>
Estimate<Unit> take_estimate(ByteReader& in) {
    std::array<double, 3> values{};
    for (double& value : values) value = in.real();
    return {Unit(values[0]), Unit(values[1]), Unit(values[2])};
}

template <class Unit>
bool is_sound(const Estimate<Unit>& estimate) {
    const double value = estimate.value.value(), low = estimate.low.value(), high = estimate.high.value();
    return value > 0 && low >= 0 && low <= value && value <= high && std::isfinite(high);
}

MeasuredOperation take_operation(ByteReader& in, std::uint8_t& bits) {
    MeasuredOperation operation;
    operation.time = take_estimate<Seconds>(in);
    if (!is_sound(operation.time)) in.fail("a measured operation took no time that can be");
    operation.power = take_estimate<Watts>(in);  // NaN: not metered
    if (operation.power.known() && !is_sound(operation.power))
        in.fail("a measured operation drew no power that can be");
    bits = in.number<std::uint8_t>();
    if (bits > (is_of_device_bit | is_telling_bit)) in.fail("a measured operation has marks that nobody knows");
    operation.is_of_device = (bits & is_of_device_bit) != 0;
    return operation;
}

void put(ByteWriter& out, const WaysLeftOut& ways) {
    out.real(ways.from_others);
    out.real(ways.of_own);
}

double take_error(ByteReader& in) {
    const double error = take_finite(in);
    if (error < 0) in.fail("a device that starts from others has a negative error");
    return error;
}

WaysLeftOut take_ways(ByteReader& in) {
    WaysLeftOut ways;
    ways.from_others = take_error(in);
    ways.of_own = take_error(in);
    return ways;
}

std::optional<WaysLeftOut> take_ways_by_work(ByteReader& in) {
    const std::uint8_t is_there = in.number<std::uint8_t>();
    if (is_there > 1) in.fail("whether a device has errors by size is neither yes nor no");
    return is_there == 1 ? std::optional(take_ways(in)) : std::nullopt;
}

std::uint8_t take_version(ByteReader& in) {
    const std::uint8_t version = in.number<std::uint8_t>();
    if (version == 0 || version > kept_version) in.fail("it keeps operations as a newer joulecast does");
    return version;
}

Device take_device_after_version(ByteReader& in) {
    Device device = take_device(in);
    take_sheet(in, device);
    take_core_clocks(in, device);
    return device;
}

}  // namespace

void put_kept(ByteWriter& out, const KeptDevice& kept) {
    out.number(kept_version);
    put(out, kept.device);
    put_sheet(out, kept.device);
    put_core_clocks(out, kept.device);
    put(out, kept.point);
    out.text(kept.point.engine);
    put(out, kept.left_out);
    out.number(static_cast<std::uint8_t>(kept.left_out_by_work ? 1 : 0));
    if (kept.left_out_by_work) put(out, *kept.left_out_by_work);
    out.number(static_cast<std::uint32_t>(kept.operations.size()));
    for (const auto& [signature, operation] : kept.operations) {
        out.text(signature);
        put(out, operation.time);
        put(out, operation.power);
        const bool is_telling = std::ranges::binary_search(kept.telling, signature);
        out.number(static_cast<std::uint8_t>((operation.is_of_device ? is_of_device_bit : 0) |
                                             (is_telling ? is_telling_bit : 0)));
    }
}

Device take_device_of_kept(ByteReader& in) {
    take_version(in);
    return take_device_after_version(in);
}

KeptDevice take_kept(ByteReader& in) {
    KeptDevice kept;
    const std::uint8_t version = take_version(in);
    kept.device = take_device_after_version(in);
    kept.point = take_point(in, kept.device.id);
    kept.point.engine = in.text();
    if (!is_engine(kept.point.engine)) in.fail("its engine is not a name of one");
    kept.left_out = take_ways(in);
    if (version >= first_with_ways_by_work) kept.left_out_by_work = take_ways_by_work(in);
    const std::size_t operations = in.count(53);
    for (std::size_t i = 0; i < operations; ++i) {
        std::string signature = in.text();
        if (!kept.operations.empty() && signature <= kept.operations.rbegin()->first)
            in.fail("its measured operations are not sorted");
        std::uint8_t bits = 0;
        MeasuredOperation operation = take_operation(in, bits);
        if ((bits & is_telling_bit) != 0) kept.telling.push_back(signature);
        kept.operations.emplace_hint(kept.operations.end(), std::move(signature), std::move(operation));
    }
    if (kept.telling.size() > most_telling_operations) in.fail("too many of its operations are to be learned from");
    return kept;
}

}  // namespace joulecast
