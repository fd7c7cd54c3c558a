#include "joulecast/measure/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

constexpr double longest_hold_s = 1.0;     ///< a reading stands for so long where no other is near
constexpr double least_known_share = 0.9;  ///< of the time

/// A counter's values at the moments they renewed themselves; the first is what it began with.
struct Renewal {
    double time_s = 0;
    double energy_j = 0;
};

std::vector<Renewal> renewals(std::span<const MeterReading> readings) {
    std::vector<Renewal> list;
    for (const MeterReading& reading : readings) {
        if (!std::isfinite(reading.energy_j) || !std::isfinite(reading.time_s)) continue;
        if (list.empty() || reading.energy_j != list.back().energy_j)
            list.push_back({reading.time_s, reading.energy_j});
    }
    // The first value was old when it was first seen: it began one renewal before the second.
    std::vector<double> distances;
    for (std::size_t i = 2; i < list.size(); ++i) distances.push_back(list[i].time_s - list[i - 1].time_s);
    if (!distances.empty()) list[0].time_s = std::min(list[0].time_s, list[1].time_s - median(distances));
    return list;
}

/// Along the line between the renewals around that moment, or on along the outermost one. At least two renewals.
double count_at(const std::vector<Renewal>& list, double time_s) {
    auto after = std::lower_bound(list.begin() + 1, list.end() - 1, time_s,
                                  [](const Renewal& renewal, double time) { return renewal.time_s < time; });
    const auto before = after - 1;
    const double share = (time_s - before->time_s) / (after->time_s - before->time_s);
    return before->energy_j + share * (after->energy_j - before->energy_j);
}

std::string seconds_text(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g s", seconds);
    return text.data();
}

TraceEnergy of_counter(std::span<const MeterReading> readings, double start_s, double end_s) {
    TraceEnergy result;
    const auto list = renewals(readings);
    if (list.size() < 2) {
        result.missing_reason = "the meter's count did not renew itself";
        return result;
    }
    const double first_s = readings.front().time_s;
    const double last_s = readings.back().time_s;
    if (first_s > start_s + longest_hold_s || last_s < end_s - longest_hold_s) {
        result.missing_reason = "the meter was read only from " + seconds_text(std::max(0.0, first_s - start_s)) +
                                " to " + seconds_text(std::max(0.0, last_s - start_s)) + " of " +
                                seconds_text(end_s - start_s);
        return result;
    }
    result.energy_j = count_at(list, end_s) - count_at(list, start_s);
    return result;
}

/// Area below the line from `a` to `b`, within the bounds.
double area(const PowerSample& a, const PowerSample& b, double from_s, double to_s) {
    const double from = std::clamp(a.time_s, from_s, to_s);
    const double to = std::clamp(b.time_s, from_s, to_s);
    if (!(to > from)) return 0;
    const double slope = (b.power_w - a.power_w) / (b.time_s - a.time_s);
    return (to - from) * (a.power_w + slope * ((from + to) / 2 - a.time_s));
}

double overlap(double a, double b, double from_s, double to_s) {
    return std::max(0.0, std::min(b, to_s) - std::max(a, from_s));
}

/// What counts as a drop-out.
double longest_distance(const std::vector<PowerSample>& samples) {
    std::vector<double> distances;
    for (std::size_t i = 1; i < samples.size(); ++i) distances.push_back(samples[i].time_s - samples[i - 1].time_s);
    return std::max(longest_hold_s, 10 * (distances.empty() ? 0.0 : median(distances)));
}

TraceEnergy of_power(std::span<const MeterReading> readings, double start_s, double end_s) {
    TraceEnergy result;
    std::vector<PowerSample> samples = power_samples(readings, false);
    if (samples.empty()) {
        result.missing_reason = "the meter reported no power";
        return result;
    }
    const double gap_s = longest_distance(samples);
    samples.insert(samples.begin(), {samples.front().time_s - longest_hold_s, samples.front().power_w});
    samples.push_back({samples.back().time_s + longest_hold_s, samples.back().power_w});
    double known_s = 0;
    double energy_j = 0;
    for (std::size_t i = 1; i < samples.size(); ++i) {
        const PowerSample& a = samples[i - 1];
        const PowerSample& b = samples[i];
        if (b.time_s - a.time_s > gap_s) continue;
        known_s += overlap(a.time_s, b.time_s, start_s, end_s);
        energy_j += area(a, b, start_s, end_s);
    }
    const double share = known_s / (end_s - start_s);
    if (!(share >= least_known_share)) {
        result.missing_reason = "the meter reported its power during only " + seconds_text(known_s) + " of " +
                                seconds_text(end_s - start_s);
        return result;
    }
    // What dropped out, a tenth at most, is taken to be like the rest.
    result.energy_j = energy_j / share;
    return result;
}

}  // namespace

std::vector<PowerSample> power_samples(std::span<const MeterReading> readings, bool counts_energy) {
    std::vector<PowerSample> samples;
    if (!counts_energy) {
        for (const MeterReading& reading : readings) {
            if (!std::isfinite(reading.power_w) || !std::isfinite(reading.time_s)) continue;
            if (samples.empty() || reading.time_s > samples.back().time_s)
                samples.push_back({reading.time_s, reading.power_w});
        }
        return samples;
    }
    const auto list = renewals(readings);
    // The first value began at some time in the past: power is known from the second renewal on.
    for (std::size_t i = 2; i < list.size(); ++i) {
        const double power_w = (list[i].energy_j - list[i - 1].energy_j) / (list[i].time_s - list[i - 1].time_s);
        samples.push_back({list[i].time_s, power_w});
    }
    return samples;
}

TraceEnergy energy_between(std::span<const MeterReading> readings, bool counts_energy, double start_s, double end_s) {
    if (readings.empty() || !(end_s > start_s)) return {.missing_reason = "the meter was not read"};
    TraceEnergy result = counts_energy ? of_counter(readings, start_s, end_s) : of_power(readings, start_s, end_s);
    if (std::isnan(result.energy_j)) return result;
    result.power_w = result.energy_j / (end_s - start_s);
    for (const PowerSample& sample : power_samples(readings, counts_energy)) {
        if (sample.time_s < start_s || sample.time_s > end_s) continue;
        if (!(result.peak_power_w >= sample.power_w)) result.peak_power_w = sample.power_w;
    }
    return result;
}

Repeated repeated(std::span<const double> values) {
    Repeated result;
    result.mean = mean(values);
    if (values.size() < 2) return result;
    const auto count = static_cast<double>(values.size());
    result.half_width = student_t_quantile(0.975, count - 1) * standard_deviation(values) / std::sqrt(count);
    return result;
}

}  // namespace joulecast
