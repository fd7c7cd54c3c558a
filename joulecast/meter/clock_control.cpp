#include "joulecast/meter/clock_control.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "joulecast/error.h"
#include "joulecast/units/digits.h"

namespace joulecast {

namespace {

constexpr double highest_mhz = 100000;
constexpr double highest_limit_w = 100000;

/// Of two that are as near, the lower one.
unsigned nearest(double mhz, const std::vector<unsigned>& ascending) {
    return *std::min_element(ascending.begin(), ascending.end(),
                             [mhz](unsigned a, unsigned b) { return std::abs(a - mhz) < std::abs(b - mhz); });
}

std::string supported_range(const std::vector<unsigned>& ascending) {
    return std::to_string(ascending.front()) + " to " + std::to_string(ascending.back()) + " MHz in " +
           std::to_string(ascending.size()) + " steps";
}

std::string not_listed(const NvmlGpu& gpu, const std::string& which, unsigned mhz, std::vector<unsigned> supported) {
    if (supported.empty()) return gpu.label() + " does not report which " + which + " clocks it supports";
    std::sort(supported.begin(), supported.end());
    if (std::binary_search(supported.begin(), supported.end(), mhz)) return "";
    return gpu.label() + " does not support a " + which + " clock of " + std::to_string(mhz) + " MHz (" +
           supported_range(supported) + "); the nearest is " + std::to_string(nearest(mhz, supported));
}

std::optional<unsigned> whole(double value, double highest, const char* what) {
    if (std::isnan(value)) return std::nullopt;
    if (!(value > 0) || value > highest)
        throw Error(std::string("a ") + what + " of " + digits(value) + " is impossible");
    return static_cast<unsigned>(std::lround(value));
}

/// A value that was not asked for, or that the card does not tell, differs from nothing.
bool differs(double asked, double real, double tolerance) {
    return !std::isnan(asked) && !std::isnan(real) && std::abs(asked - real) > tolerance;
}

std::string difference(const NvmlGpu& gpu, const OperatingPoint& asked, const OperatingPoint& real) {
    // Clocks are whole MHz; a limit may be rounded to the card's step.
    std::string text;
    const auto add = [&text](const char* what, double wanted, double got, const char* unit) {
        text += (text.empty() ? "" : ", ") + std::string(what) + " " + digits(got) + " instead of " + digits(wanted) +
                " " + unit;
    };
    if (differs(asked.sm_clock_mhz, real.sm_clock_mhz, 0.5)) {
        add("clock", asked.sm_clock_mhz, real.sm_clock_mhz, "MHz");
    }
    if (differs(asked.memory_clock_mhz, real.memory_clock_mhz, 0.5)) {
        add("memory clock", asked.memory_clock_mhz, real.memory_clock_mhz, "MHz");
    }
    if (differs(asked.power_limit_w, real.power_limit_w, 0.5)) {
        add("power limit", asked.power_limit_w, real.power_limit_w, "W");
    }
    if (text.empty()) return "";
    const std::string reasons = describe_throttle_reasons(gpu.throttle_reasons().value_or(0));
    return gpu.label() + ": " + text + (reasons.empty() ? "" : " (" + reasons + ")");
}

}  // namespace

ClockRequest clock_request(const OperatingPoint& point) {
    ClockRequest request;
    request.graphics_mhz = whole(point.sm_clock_mhz, highest_mhz, "clock in MHz");
    request.memory_mhz = whole(point.memory_clock_mhz, highest_mhz, "memory clock in MHz");
    if (whole(point.power_limit_w, highest_limit_w, "power limit in W")) {
        request.power_limit_mw = static_cast<unsigned>(std::lround(point.power_limit_w * 1e3));
    }
    return request;
}

std::string why_not_supported(const NvmlGpu& gpu, const ClockRequest& request) {
    const std::vector<unsigned> memory_clocks = gpu.memory_clocks_mhz();
    if (request.memory_mhz) {
        std::string refusal = not_listed(gpu, "memory", *request.memory_mhz, memory_clocks);
        if (!refusal.empty()) return refusal;
    }
    if (request.graphics_mhz) {
        // Which graphics clocks there are depends on the memory clock; the highest has the most.
        const unsigned memory = request.memory_mhz      ? *request.memory_mhz
                                : memory_clocks.empty() ? 0
                                                        : memory_clocks.front();
        std::string refusal = not_listed(gpu, "graphics", *request.graphics_mhz, gpu.graphics_clocks_mhz(memory));
        if (!refusal.empty()) return refusal;
    }
    if (request.power_limit_mw) {
        const double watts = *request.power_limit_mw * 1e-3;
        const NvmlRange allowed = gpu.power_limits_w();
        if (std::isnan(allowed.lowest)) return gpu.label() + " does not report which power limits it allows";
        if (watts < allowed.lowest || watts > allowed.highest) {
            return gpu.label() + " does not allow a power limit of " + digits(watts) + " W (" + digits(allowed.lowest) +
                   " to " + digits(allowed.highest) + " W)";
        }
    }
    return "";
}

OperatingPoint real_point(const NvmlGpu& gpu, OperatingPoint point) {
    point.sm_clock_mhz = gpu.clock_mhz(NvmlClock::sm).value;
    point.memory_clock_mhz = gpu.clock_mhz(NvmlClock::memory).value;
    point.power_limit_w = gpu.power_limit_w().value;
    return point;
}

double SteadySettleClock::now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void SteadySettleClock::wait(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

Settled settle(const NvmlGpu& gpu, const OperatingPoint& asked, SettleClock& clock, const SettleRule& rule) {
    const double start = clock.now_s();
    Settled settled;
    int equal = 0;
    for (;;) {
        settled.real = real_point(gpu, asked);
        settled.remark = difference(gpu, asked, settled.real);
        equal = settled.remark.empty() ? equal + 1 : 0;
        if (equal >= rule.equal_readings || clock.now_s() - start >= rule.limit_s) break;
        clock.wait(rule.poll_s);
    }
    if (settled.remark.empty()) clock.wait(rule.rest_s);
    settled.waited_s = clock.now_s() - start;
    return settled;
}

}  // namespace joulecast
