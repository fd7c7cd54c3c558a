#include "joulecast/forecast/measured_operations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Clocks within this share of each other are one.
constexpr double same_clock = 0.005;
/// Beyond the hot time the line bends: what is computed takes as long whatever the cache has.
constexpr double least_of_hot = 2.0 / 3;

/// The share that is still in the cache when so many bytes were touched since.
double found_in_cache(double bytes_since, double cache_bytes) {
    const double times = bytes_since / cache_bytes;
    return 1 / (1 + times * times);
}

/// Bytes touched between the middle of the call that wrote a tensor and that of the one that reads it: half of what
/// either moves. The writer is taken to read as much as it writes, as most calls about do.
double since_written(double tensor_bytes, const Counts& reader) {
    return tensor_bytes + static_cast<double>(reader.bytes_read + reader.bytes_written) / 2;
}

/// Read bytes that the cache still has: inputs, which the call before has just written; of the backward pass the
/// gradient of the output. Weights and what was kept for the backward pass were touched long ago; of the latter the
/// cache still has some, which is made good by taking a gradient to be touched but its own width ago.
double found_in_network(const Dimensions& dimensions, double cache_bytes) {
    const auto read = static_cast<double>(dimensions.forward.bytes_read);
    const double weights = std::isnan(dimensions.weight_bytes) ? 0 : std::min(dimensions.weight_bytes, read);
    const double inputs = read - weights;
    const double found = inputs * found_in_cache(since_written(inputs, dimensions.forward), cache_bytes);
    const double gradients = std::min(dimensions.output_bytes, static_cast<double>(dimensions.backward.bytes_read));
    return gradients > 0 ? found + gradients * found_in_cache(gradients, cache_bytes) : found;
}

/// Of all tensors of a call; the backward pass has a gradient for each.
double distinct_bytes(const Dimensions& dimensions) {
    const auto forward = static_cast<double>(dimensions.forward.bytes_read + dimensions.forward.bytes_written);
    return dimensions.backward.bytes_read > 0 ? 2 * forward : forward;
}

double clock_of(double real, double asked) {
    return real > 0 ? real : asked;
}

MeasuredOperation middle_of(std::span<const Measurement* const> repeats, double cache_bytes) {
    std::vector<double> times;
    std::vector<double> watts;
    double half_width = 0;
    double watts_half_width = 0;
    const Dimensions sizes = cache_bytes > 0 ? dimensions(repeats.front()->operation) : Dimensions{};
    for (const Measurement* repeat : repeats) {
        times.push_back(cache_bytes > 0 ? in_network(*repeat, sizes, cache_bytes).seconds : measured_seconds(*repeat));
        if (repeat->time.half_width_s > 0) half_width = std::max(half_width, repeat->time.half_width_s);
        if (!(measured_watts(*repeat) > 0)) continue;
        watts.push_back(measured_watts(*repeat));
        const double of_energy = repeat->energy->half_width_j / repeat->energy->energy_j;
        if (of_energy > 0) watts_half_width = std::max(watts_half_width, of_energy * watts.back());
    }
    MeasuredOperation measured{middle_of_repeats<Seconds>(times, half_width), {}};
    if (!watts.empty()) measured.power = middle_of_repeats<Watts>(watts, watts_half_width);
    measured.is_of_device =
        std::ranges::all_of(repeats, [](const Measurement* repeat) { return repeat->issue.has_value(); });
    return measured;
}

std::vector<MeasuredAtClock> by_clock(std::vector<const Measurement*> repeats, double cache_bytes) {
    const auto sm_clock = [](const Measurement* m) { return clock_of(m->real.sm_clock_mhz, m->asked.sm_clock_mhz); };
    const auto memory_clock = [](const Measurement* m) {
        const double clock = clock_of(m->real.memory_clock_mhz, m->asked.memory_clock_mhz);
        return clock > 0 ? clock : 0;
    };
    std::erase_if(repeats, [&](const Measurement* m) { return !(sm_clock(m) > 0); });
    std::stable_sort(repeats.begin(), repeats.end(), [&](const Measurement* a, const Measurement* b) {
        return std::pair(memory_clock(a), sm_clock(a)) < std::pair(memory_clock(b), sm_clock(b));
    });
    std::vector<MeasuredAtClock> clocks;
    for (std::size_t begin = 0; begin < repeats.size();) {
        std::size_t end = begin + 1;
        while (end < repeats.size() && memory_clock(repeats[end]) == memory_clock(repeats[begin]) &&
               sm_clock(repeats[end]) <= sm_clock(repeats[begin]) * (1 + same_clock))
            ++end;
        const MeasuredOperation here = middle_of(std::span(repeats).subspan(begin, end - begin), cache_bytes);
        const double memory = memory_clock(repeats[begin]);
        clocks.push_back({sm_clock(repeats[begin + (end - begin) / 2]),
                          memory > 0 ? memory : std::numeric_limits<double>::quiet_NaN(), here.time, here.power});
        begin = end;
    }
    return clocks;
}

}  // namespace

template <class Unit>
Estimate<Unit> middle_of_repeats(std::span<const double> values, double half_width_95) {
    const double half_width = half_width_95 * (normal_90 / normal_95);
    const auto [least, most] = std::ranges::minmax(values);
    return {Unit(median(values)), Unit(std::max(0.0, least - half_width)), Unit(most + half_width)};
}
template Estimate<Seconds> middle_of_repeats(std::span<const double> values, double half_width_95);
template Estimate<Watts> middle_of_repeats(std::span<const double> values, double half_width_95);

double measured_seconds(const Measurement& measurement) {
    return measurement.time.median_s;
}

InNetwork in_network(const Measurement& measurement, const Dimensions& dimensions, double cache_bytes) {
    const double cold = measured_seconds(measurement);
    const bool is_told = measurement.issue && measurement.hot && measurement.hot->median_s > 0 && cache_bytes > 0;
    const Counts counts = dimensions.forward + dimensions.backward;
    const auto read = static_cast<double>(counts.bytes_read);
    if (!is_told || !(read > 0)) return {cold, 0};
    const auto bytes = read + static_cast<double>(counts.bytes_written);
    const double missed = 1 - found_in_network(dimensions, cache_bytes) / read;
    // The same set again and again: what is read was touched a whole step of the call ago.
    const double found_when_hot = found_in_cache(distinct_bytes(dimensions), cache_bytes);
    const double hot = std::min(cold, measurement.hot->median_s);
    const double seconds = hot + (cold - hot) * (missed - (1 - found_when_hot)) / found_when_hot;
    return {std::max(seconds, least_of_hot * hot), (1 - missed) * read / bytes};
}

bool is_usable(const Measurement& measurement) {
    const bool measured = is_timed(measurement.outcome);
    const double time = measured_seconds(measurement);
    return measured && time > 0 && std::isfinite(time);
}

double measured_watts(const Measurement& measurement) {
    if (!measurement.energy) return std::numeric_limits<double>::quiet_NaN();
    const EnergySummary& energy = *measurement.energy;
    if (energy.power_w > 0) return energy.power_w;
    return energy.energy_j > 0 ? energy.energy_j / measured_seconds(measurement)
                               : std::numeric_limits<double>::quiet_NaN();
}

double measured_watts(const NetworkMeasurement& measurement) {
    if (measurement.energy && measurement.energy->power_w > 0) return measurement.energy->power_w;
    return measured_joules(measurement) / measurement.time.median_s;
}

double measured_joules(const NetworkMeasurement& measurement) {
    if (!measurement.energy) return std::numeric_limits<double>::quiet_NaN();
    const EnergySummary& energy = *measurement.energy;
    return energy.energy_j > 0 ? energy.energy_j : std::numeric_limits<double>::quiet_NaN();
}

MeasuredOperations measured_operations(std::span<const OperationRow> rows, double cache_bytes) {
    std::map<std::string, std::vector<const Measurement*>> by_signature;
    for (const OperationRow& row : rows) {
        if (is_usable(row.measurement)) {
            by_signature[signature(row.measurement.operation)].push_back(&row.measurement);
        }
    }
    MeasuredOperations measured;
    for (const auto& [text, repeats] : by_signature) {
        MeasuredOperation& operation = measured[text] = middle_of(repeats, cache_bytes);
        operation.at_clocks = by_clock(repeats, cache_bytes);
    }
    return measured;
}

}  // namespace joulecast
