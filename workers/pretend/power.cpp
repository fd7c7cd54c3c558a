#include "workers/pretend/power.h"

#include <algorithm>
#include <cmath>

namespace joulecast::pretend {
namespace {

constexpr double leakage_at_c = 50;

/// P where its temperature follows it: both are linear in each other.
double with_temperature(const Card& card, double cool_w, double leakage_w) {
    const double at_ambient = 1.0 + card.leakage_per_c * (card.ambient_c - leakage_at_c);
    const double rise = leakage_w * card.leakage_per_c * card.kelvin_per_watt;
    return (cool_w + leakage_w * at_ambient) / (1.0 - std::min(rise, 0.9));
}

double busy_share(const Effort& effort, double span_s) {
    return effort.kernels > 0 && span_s > 0 ? std::min(1.0, effort.busy_s / span_s) : 0.0;
}

Running run_at(const Card& card, const Work& work, const Setting& setting, const SpanOf& span) {
    Running running;
    running.setting = setting;
    running.effort = effort(card, work, setting);
    running.span_s = span(running.effort);
    running.power_w = watts(card, setting, running.effort, running.span_s);
    running.idle_w = idle_watts(card, setting);
    return running;
}

}  // namespace

double relative_voltage(const Card& card, double sm_clock_mhz) {
    const double x = sm_clock_mhz / highest_clock_mhz(card.sheet);
    if (x <= card.voltage_knee || card.voltage_knee >= 1) return 1.0;
    return 1.0 + card.voltage_rise * (x - card.voltage_knee) / (1.0 - card.voltage_knee);
}

double watts(const Card& card, const Setting& setting, const Effort& effort, double span_s) {
    const double v = relative_voltage(card, setting.sm_clock_mhz);
    const double x = setting.sm_clock_mhz / card.sheet.boost_clock_mhz;
    const double share = busy_share(effort, span_s);
    const double clocks_w = card.clocked_w * x * v * v * (card.gated_share + (1.0 - card.gated_share) * share);
    const double work_w = span_s > 0 ? (v * v * effort.switched_j + effort.memory_j) / span_s : 0.0;
    const double still_w = card.board_w + card.memory_idle_w * card.memory_ratio(setting.memory_clock_mhz);
    return with_temperature(card, still_w + clocks_w + work_w, card.leakage_w * v);
}

double idle_watts(const Card& card, const Setting& setting) {
    return watts(card, setting, Effort{}, 1.0);
}

double temperature_c(const Card& card, double power_w) {
    return card.ambient_c + card.kelvin_per_watt * power_w;
}

Running run_within(const Card& card, const Work& work, const Setting& asked, double limit_w, const SpanOf& span) {
    Running running = run_at(card, work, asked, span);
    if (!(running.power_w > limit_w) || card.sm_clocks_mhz.empty()) return running;
    double high = asked.sm_clock_mhz;
    double low = std::min(card.sm_clocks_mhz.front(), high);
    constexpr int halvings = 24;  // of some 1000 MHz: to 1e-4
    Setting setting = asked;
    for (int i = 0; i < halvings; ++i) {
        setting.sm_clock_mhz = 0.5 * (low + high);
        const bool keeps = run_at(card, work, setting, span).power_w <= limit_w;
        (keeps ? low : high) = setting.sm_clock_mhz;
    }
    setting.sm_clock_mhz = low;
    running = run_at(card, work, setting, span);
    running.capped = true;
    return running;
}

}  // namespace joulecast::pretend
