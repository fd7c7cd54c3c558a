#include "workers/pretend/point.h"

#include <algorithm>
#include <cmath>

#include "joulecast/error.h"
#include "joulecast/units/digits.h"

namespace joulecast::pretend {
namespace {

double chosen(const Card& card, double asked_mhz, const std::vector<double>& known, const char* what) {
    if (std::isnan(asked_mhz)) return known.empty() ? Device::unknown : known.back();
    if (std::ranges::find(known, asked_mhz) != known.end()) return asked_mhz;
    if (known.empty()) throw Error("cannot set the clock of " + card.sheet.id + ". Ask for the current clock.");
    const double nearest =
        *std::ranges::min_element(known, {}, [&](double clock) { return std::abs(clock - asked_mhz); });
    throw Error(card.sheet.id + " has no " + what + " clock of " + digits(asked_mhz) + " MHz; the nearest is " +
                digits(nearest));
}

void check_limit(const Card& card, double limit_w) {
    if (std::isnan(limit_w)) return;
    if (limit_w >= card.power_limit_low_w && limit_w <= card.power_limit_high_w) return;
    throw Error("cannot set a power limit of " + digits(limit_w) + " W on " + card.sheet.id +
                (card.power_limit_high_w > 0
                     ? ": it takes " + digits(card.power_limit_low_w) + " to " + digits(card.power_limit_high_w) + " W"
                     : std::string(": it has none")));
}

}  // namespace

std::vector<Host> hosts_of(const Card& card) {
    if (card.is_gpu()) return {Host::cpp, Host::python, Host::graph};
    return {Host::cpp, Host::python};
}

Setting setting_of(const Card& card, const OperatingPoint& asked, int threads) {
    const std::vector<Host> hosts = hosts_of(card);
    if (std::ranges::find(hosts, asked.host) == hosts.end())
        throw Error("cannot measure with host " + std::string(name(asked.host)) + " on " + card.sheet.id);
    check_limit(card, asked.power_limit_w);
    Setting setting;
    setting.sm_clock_mhz = chosen(card, asked.sm_clock_mhz, card.sm_clocks_mhz, "core");
    if (!card.is_gpu()) setting.sm_clock_mhz = card.sheet.boost_clock_mhz;
    setting.memory_clock_mhz = chosen(card, asked.memory_clock_mhz, card.memory_clocks_mhz, "memory");
    setting.threads = threads > 0 ? threads : asked.threads;
    if (!card.is_gpu() && setting.threads > card.sheet.units)
        throw Error("cannot use " + std::to_string(setting.threads) + " threads: " + card.sheet.id + " has " +
                    std::to_string(card.sheet.units) + " cores");
    if (!card.is_gpu() && setting.threads <= 0) setting.threads = card.sheet.units;
    setting.math = asked.math;
    setting.host = asked.host;
    return setting;
}

double power_limit_w(const Card& card, const OperatingPoint& asked) {
    return std::isnan(asked.power_limit_w) ? card.sheet.tdp_w : asked.power_limit_w;
}

OperatingPoint real_point(const Card& card, const OperatingPoint& asked, const Setting& setting) {
    OperatingPoint real = asked;
    real.device = card.sheet.id;
    real.threads = card.is_gpu() ? 1 : setting.threads;
    real.host_cpu = "pretend-cpu";
    if (!card.is_gpu()) return real;
    real.sm_clock_mhz = setting.sm_clock_mhz;
    real.memory_clock_mhz = setting.memory_clock_mhz;
    real.power_limit_w = power_limit_w(card, asked);
    return real;
}

}  // namespace joulecast::pretend
