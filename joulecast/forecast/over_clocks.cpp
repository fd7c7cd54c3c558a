#include "joulecast/forecast/over_clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "joulecast/forecast/device_power.h"

namespace joulecast {

ClockPlace place_of(const ClockParameters& parameters, double sm_clock_mhz, double memory_clock_mhz) {
    ClockPlace place;
    if (sm_clock_mhz > 0) place.x = sm_clock_mhz / parameters.highest_mhz;
    if (memory_clock_mhz > 0 && parameters.memory_mhz > 0) place.y = memory_clock_mhz / parameters.memory_mhz;
    place.bytes_slowdown = bytes_slowdown(parameters, place.x, place.y);
    return place;
}

ClockPlace place_of(const DeviceModel& device, const OperatingPoint& point) {
    if (!device.over_clocks || !device.clocks) return {};
    return place_of(*device.clocks, point.sm_clock_mhz, point.memory_clock_mhz);
}

double dynamic_watts(const DeviceModel& device, const PreparedOperation& operation, const Law& law, double seconds) {
    if (!device.over_clocks || !device.clocks || !(seconds > 0)) return 0;
    const DynamicPower& power = device.over_clocks->dynamic;
    const ClockPlace& at = operation.clocks;
    const Roofline highest = roofline_at_highest(operation);
    const double voltage = relative_voltage(*device.clocks, at.x);
    const double working = work_share(law, operation.roofline);
    const double active = active_share(law.tiles, operation.roofline.products);
    const double units = working * (power.busy_w + power.active_w * active) + power.on_w;
    const double core = power.flop_w * highest.flop_s / seconds + at.x * units;
    return voltage * voltage * core + power.byte_w * highest.byte_s / seconds;
}

PowerFacts power_facts_at(const DeviceModel& device, const ClockPlace& clocks) {
    PowerFacts facts = power_facts_of(device);
    if (!device.over_clocks || !device.clocks || !device.power.known()) return facts;
    const ClockPlace highest = place_of(device, device.point);
    const auto work = [&](const ClockPlace& at) {
        const double voltage = relative_voltage(*device.clocks, at.x);
        return voltage * voltage * at.x;
    };
    const double above = std::max(0.0, facts.busy_w - facts.idle_w);
    facts.idle_w = static_w(*device.clocks, clocks.x, clocks.y);
    facts.busy_w = facts.idle_w + above * work(clocks) / work(highest);
    facts.cap_w = std::numeric_limits<double>::quiet_NaN();
    return facts;
}

}  // namespace joulecast
