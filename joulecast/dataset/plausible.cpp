#include "joulecast/dataset/plausible.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

constexpr double shortest_s = 1e-9;
constexpr double longest_s = 86'400;
/// Of any device, where no limit is known.
constexpr double most_power_w = 20'000;
constexpr double most_of_power_limit = 2;
constexpr double most_of_highest_clock = 1.5;
/// Over the product of power and time: calls that wait for the host take energy for longer than their kernels.
constexpr double most_of_power_and_time = 10;
constexpr double most_of_memory = 1.02;
constexpr double most_of_peak = 8;
constexpr double most_of_bandwidth = 4;

/// "1.25e-05 s"
std::string text(double value, const char* unit) {
    std::array<char, 64> written{};
    std::snprintf(written.data(), written.size(), "%.4g %s", value, unit);
    return written.data();
}

std::optional<std::string> wrong_time(std::string_view what, double value_s) {
    if (std::isnan(value_s) || (value_s >= shortest_s && value_s <= longest_s)) return std::nullopt;
    return std::string(what) + " is " + text(value_s, "s") + ", not from 1 ns to a day";
}

std::optional<std::string> wrong_times(std::string_view what, const std::optional<TimeSummary>& time) {
    if (!time) return std::nullopt;
    if (auto why = wrong_time(what, time->mean_s)) return why;
    return wrong_time(std::string(what) + " (median)", time->median_s);
}

std::optional<std::string> wrong_blocks(const std::vector<double>& block_s) {
    if (block_s.empty()) return std::nullopt;
    const auto [low, high] = std::ranges::minmax(block_s);
    if (auto why = wrong_time("a block's time", low)) return why;
    return wrong_time("a block's time", high);
}

double power_limit_w(const OperatingPoint& real, const Device& device) {
    const double known = std::fmax(device.tdp_w, real.power_limit_w);
    return std::isnan(known) ? most_power_w : std::min(most_power_w, most_of_power_limit * known);
}

template <class Result>
std::optional<std::string> wrong_energy(const Result& result, const Device& device) {
    if (!result.energy) return std::nullopt;
    const EnergySummary& energy = *result.energy;
    const double limit_w = power_limit_w(result.real, device);
    if (energy.power_w > limit_w || energy.power_w < 0)
        return "power is " + text(energy.power_w, "W") + ", not from 0 to " + text(limit_w, "W");
    double time_s = result.time.mean_s;
    if (result.issue) time_s = std::fmax(time_s, result.issue->eager_s);
    const double power_w = std::isnan(energy.power_w) ? limit_w : energy.power_w;
    const double most_j = most_of_power_and_time * power_w * time_s;
    if (energy.energy_j > most_j || energy.energy_j < 0)
        return "energy is " + text(energy.energy_j, "J") + " a call, though its power and time make " +
               text(power_w * time_s, "J");
    return std::nullopt;
}

template <class Result>
std::optional<std::string> wrong_point(const Result& result, const Device& device) {
    const double highest = highest_clock_mhz(device);
    const double real = result.real.sm_clock_mhz;
    if (real > most_of_highest_clock * highest)
        return "the clock is " + text(real, "MHz") + ", the device's highest " + text(highest, "MHz");
    if (device.kind == Device::Kind::gpu && result.peak_memory_bytes > most_of_memory * device.memory_bytes)
        return "memory is " + text(result.peak_memory_bytes, "bytes") + ", the device has " +
               text(device.memory_bytes, "bytes");
    return std::nullopt;
}

template <class Result>
std::optional<std::string> wrong_numbers(const Result& result, const Device& device) {
    if (auto why = wrong_times("time", result.time)) return why;
    if (auto why = wrong_times("forward time", result.forward)) return why;
    if (auto why = wrong_blocks(result.block_s)) return why;
    if (auto why = wrong_energy(result, device)) return why;
    return wrong_point(result, device);
}

/// The highest rate of any way to multiply what the call takes; NaN where none is known.
double highest_flop_per_s(const Operation& operation, const Device& device) {
    double highest = std::numeric_limits<double>::quiet_NaN();
    for (const TensorType* tensor : tensors(operation)) {
        for (const Math math : {Math::ieee, Math::tf32})
            highest = std::fmax(highest, peak_flop_per_s(device, tensor->dtype, math));
    }
    return highest;
}

/// What not even a library that saves most of the arithmetic, out of warm caches, can be faster than.
double least_seconds(const Operation& operation, const Device& device) {
    const Counts counts = total_counts(operation);
    double least = static_cast<double>(counts.flop) / (most_of_peak * highest_flop_per_s(operation, device));
    // Of a CPU bandwidth and caches are estimates.
    if (device.kind == Device::Kind::gpu && device.last_level_cache_bytes > 0) {
        const double moved = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written) -
                             2 * device.last_level_cache_bytes;
        least = std::fmax(least, moved / (most_of_bandwidth * device.bandwidth_bytes_per_s));
    }
    return least;
}

template <class Result>
Result marked(Result result, const std::string& why) {
    result.outcome = Outcome::suspect;
    result.message = why + (result.message.empty() ? "" : "; " + result.message);
    return result;
}

template <class Result>
Result marked_if_implausible(Result result, const Device& device) {
    if (const auto why = implausible(result, device)) return marked(std::move(result), *why);
    return result;
}

}  // namespace

std::optional<std::string> implausible(const Measurement& measurement, const Device& device) {
    if (!is_timed(measurement.outcome)) return std::nullopt;
    if (auto why = wrong_numbers(measurement, device)) return why;
    if (auto why = wrong_times("time with warm caches", measurement.hot)) return why;
    const double least = least_seconds(measurement.operation, device);
    if (measurement.time.mean_s < least)
        return "time is " + text(measurement.time.mean_s, "s") + ", and the data sheet of " + device.id +
               " allows no less than " + text(least, "s");
    return std::nullopt;
}

std::optional<std::string> implausible(const NetworkMeasurement& measurement, const Device& device) {
    if (!is_timed(measurement.outcome)) return std::nullopt;
    return wrong_numbers(measurement, device);
}

std::optional<std::string> implausible(const ReferenceRow& row) {
    return wrong_time("time", row.time_mean_s);
}

Measurement suspected(Measurement measurement, const std::string& why) {
    return marked(std::move(measurement), why);
}

NetworkMeasurement suspected(NetworkMeasurement measurement, const std::string& why) {
    return marked(std::move(measurement), why);
}

Measurement judged(Measurement measurement, const Device& device) {
    return marked_if_implausible(std::move(measurement), device);
}

NetworkMeasurement judged(NetworkMeasurement measurement, const Device& device) {
    return marked_if_implausible(std::move(measurement), device);
}

}  // namespace joulecast
