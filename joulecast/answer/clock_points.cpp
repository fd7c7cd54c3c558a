#include "joulecast/answer/clock_points.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/physics/clock_curve.h"

namespace joulecast {
namespace {

double clock_behind_at(std::string_view number, const std::string& text) {
    double mhz = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), mhz);
    const bool is_number = read.ec == std::errc() && read.ptr == number.data() + number.size();
    if (!is_number || !std::isfinite(mhz) || mhz <= 0)
        throw UsageError("--device " + text.substr(0, 60) + ": '" + std::string(number.substr(0, 40)) +
                         "' is not a clock in MHz. Write DEVICE@SM_MHZ or DEVICE@SM_MHZ/MEMORY_MHZ");
    return mhz;
}

}  // namespace

DeviceAtClock device_at_clock(const std::string& text) {
    const std::size_t at = text.rfind('@');
    if (at == std::string::npos) return {text, {}};
    DeviceAtClock found{text.substr(0, at), {}};
    const std::string_view clocks = std::string_view(text).substr(at + 1);
    const std::size_t slash = clocks.find('/');
    found.asked.sm_clock_mhz = clock_behind_at(clocks.substr(0, slash), text);
    if (slash != std::string_view::npos) found.asked.memory_clock_mhz = clock_behind_at(clocks.substr(slash + 1), text);
    return found;
}

std::vector<OperatingPoint> points_asked(const OperatingPoint& at, const ClockWish& wish, const Device& device) {
    const bool says_clock = !std::isnan(at.sm_clock_mhz);
    const bool says_any = says_clock || !std::isnan(at.memory_clock_mhz) || !std::isnan(at.power_limit_w);
    if (!wish.changes() && !says_any) return {};
    std::vector<double> clocks = wish.all ? clock_table_mhz(device) : wish.sm_clocks_mhz;
    if (wish.all && clocks.empty())
        throw UsageError("--clocks all: the clocks of " + device.id + " are not known (" + missing_for_clocks(device) +
                         ")");
    if (says_clock && (wish.all || !clocks.empty()))
        throw UsageError("the clock is given twice: behind the @ of --device and with --clocks. Give one of them");
    if (clocks.empty()) clocks.push_back(at.sm_clock_mhz);  // NaN: the device's own
    const std::vector<double> limits =
        wish.power_limits_w.empty() ? std::vector<double>{at.power_limit_w} : wish.power_limits_w;
    if (!std::isnan(at.memory_clock_mhz) && !wish.memory_clocks_mhz.empty())
        throw UsageError(
            "the memory clock is given twice: behind the @ of --device and with --memory-clocks. "
            "Give one");
    const std::vector<double> memory_clocks =
        wish.memory_clocks_mhz.empty() ? std::vector<double>{at.memory_clock_mhz} : wish.memory_clocks_mhz;
    std::vector<OperatingPoint> points;
    for (const double memory : memory_clocks) {
        for (const double clock : clocks) {
            for (const double limit : limits) {
                OperatingPoint point = at;
                point.memory_clock_mhz = memory;
                point.sm_clock_mhz = clock;
                point.power_limit_w = limit;
                points.push_back(point);
            }
        }
    }
    return points;
}

}  // namespace joulecast
