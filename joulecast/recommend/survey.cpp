#include "joulecast/recommend/survey.h"

#include <cmath>
#include <cstddef>
#include <optional>

#include "joulecast/error.h"
#include "joulecast/forecast/at_point.h"
#include "joulecast/physics/clock_curve.h"

namespace joulecast {
namespace {

/// Throws UsageError for a limit that nobody knows the card's driver to take.
void check_offered(const Device& device, double limit_w) {
    if (!(limit_w < device.tdp_w) || device.min_power_limit_w > 0) return;
    throw UsageError("power limits of " + device.id +
                     " are not offered: the lowest that its driver takes is not known. Give a data sheet with "
                     "min_power_limit_w (joulecast help devices)");
}

/// All that the points have in common.
Candidate common_of(const NetworkForecast& forecast, const DeviceModel& device) {
    Candidate c;
    c.mode = forecast.mode;
    c.precision = forecast.precision;
    c.memory_format = forecast.memory_format;
    if (device.device.kind == Device::Kind::cpu) c.threads = device.point.threads;
    c.symbols = forecast.symbols;
    const auto batch = forecast.symbols.find("batch");
    if (batch != forecast.symbols.end())
        c.samples = static_cast<double>(batch->second * forecast.training.accumulation);
    c.tokens = tokens_of(forecast);
    const Estimate<Bytes>& peak = forecast.cost.peak_memory;
    const MemoryFit fit = forecast.memory_fit.value_or(MemoryFit{});
    const Bytes beside = Bytes(fit.needed_bytes) - peak.value;
    c.memory = {beside + peak.value, beside + peak.low, beside + peak.high};
    c.device_memory = device.device.memory_bytes;
    c.overflow = forecast.overflow;
    c.lower_bound = forecast.lower_bound;
    c.guessed_host_pace = forecast.guessed_host_pace;
    return c;
}

/// What a device without clocks takes: the forecast as it is.
Candidate as_it_comes(const NetworkForecast& forecast, Candidate common) {
    common.asked = common.real = forecast.point;
    common.is_default = true;
    common.time = forecast.time;
    common.energy = forecast.energy;
    common.power = forecast.power;
    common.limited_by = name(forecast.limited_by);
    const Estimate<Ratio> same{Ratio(1), Ratio(1), Ratio(1)};
    common.over_default = {same, common.energy.known() ? same : Estimate<Ratio>{},
                           common.power.known() ? same : Estimate<Ratio>{}};
    return common;
}

}  // namespace

Surveyed survey(const NetworkForecast& forecast, const DeviceModel& device, std::span<const OperatingPoint> points) {
    Surveyed surveyed;
    Candidate common = common_of(forecast, device);
    if (const std::string missing = why_no_clocks(device); !missing.empty()) {
        surveyed.candidates.push_back(as_it_comes(forecast, common));
        if (points.size() > 1) surveyed.refused.push_back(device.device.id + " cannot be set: " + missing);
        return surveyed;
    }
    const ForecastCurve curve(forecast, device);
    const ClockParameters& clocks = curve.curve().parameters();
    common.highest_clock_mhz = points.front().sm_clock_mhz;
    common.lowest_clock_mhz = lowest_chosen_mhz(clocks);
    common.reference_clock_mhz = curve.curve().known().x * clocks.highest_mhz;
    common.time_spread = clocks.spread.time;
    common.energy_spread = clocks.spread.energy;
    std::optional<PointForecast> as_sold;
    for (std::size_t i = 0; i < points.size(); ++i) {
        OperatingPoint asked = forecast.point;
        asked.device = device.device.id;
        asked.sm_clock_mhz = points[i].sm_clock_mhz;
        asked.memory_clock_mhz = points[i].memory_clock_mhz;
        asked.power_limit_w = points[i].power_limit_w;
        try {
            check_limit(device, points[i]);
            check_offered(device.device, points[i].power_limit_w);
            const PointForecast at = curve.at(asked);
            Candidate& c = surveyed.candidates.emplace_back(common);
            c.asked = asked;
            c.real = at.real;
            c.is_default = i == 0;
            c.time = at.time;
            c.energy = at.energy;
            c.power = at.power;
            c.limited_by = name(at.limited_by);
            if (i == 0) as_sold = at;
            if (as_sold) c.over_default = curve.relative(at, *as_sold);
        } catch (const UsageError& error) {
            surveyed.refused.emplace_back(error.what());
        }
    }
    return surveyed;
}

}  // namespace joulecast
