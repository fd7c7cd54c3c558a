// How far ratios of two clocks are off: what held-out forecasts of operations and networks missed.
#include "joulecast/train/calibrate_ratios.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "joulecast/forecast/over_clocks.h"
#include "joulecast/train/held_out_operations.h"
#include "joulecast/train/network_ratios.h"
#include "joulecast/train/rows_over_clocks.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// So many operations make a workload whose errors average out as those of a network do.
constexpr std::size_t operations_of_set = 20;
/// Shorter calls, in times of the shortest, are launches that no clock tells apart.
constexpr double times_of_shortest = 5;
/// In models that were measured: what operations tell lacks how networks are composed, and counts as one of them; the
/// spread before any measurement as three.
constexpr double models_of_operations = 1;
constexpr double models_of_default = 3;
/// No wider in time than the systematic error of a network itself (calibrate_networks.cpp), which a ratio mostly
/// cancels.
constexpr RatioSpread usual{.time = 0.03, .power = 0.045, .energy = 0.04};

/// Of one operation or of several, at one clock: as measured, and as forecast while held out.
struct Cost {
    double measured_s = 0;
    double forecast_s = 0;
    double measured_j = 0;  ///< NaN where a power is not known
    double forecast_j = 0;

    Cost& operator+=(const Cost& other) {
        measured_s += other.measured_s;
        forecast_s += other.forecast_s;
        measured_j += other.measured_j;
        forecast_j += other.forecast_j;
        return *this;
    }
    friend Cost operator*(double count, Cost cost) {
        for (double* value : {&cost.measured_s, &cost.forecast_s, &cost.measured_j, &cost.forecast_j}) *value *= count;
        return cost;
    }
};

/// By the place among the trained clocks, which ascend: the last is the highest.
using CostAtClocks = std::map<std::size_t, Cost>;

std::size_t clock_of(const OverClocks& over, const TrainingRow& row) {
    const auto found = std::ranges::find_if(over.trained, [&](const TrainedClock& clock) {
        return !are_other_clocks(clock.sm_clock_mhz, row.sm_clock_mhz) &&
               !are_other_memory_clocks(clock.memory_clock_mhz, row.memory_clock_mhz);
    });
    return static_cast<std::size_t>(found - over.trained.begin());
}

/// Operations at two clocks or more that keep the device busy; neighbours are of one kind.
std::vector<CostAtClocks> operations_at_clocks(const OverClocks& over, std::span<const TrainingRow> rows,
                                               std::span<const HeldOutTime> held_out) {
    double shortest = std::numeric_limits<double>::infinity();
    for (const TrainingRow& row : rows) shortest = std::min(shortest, row.time_s);
    std::map<std::string, CostAtClocks> by_signature;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t clock = clock_of(over, rows[i]);
        const bool is_told = clock < over.trained.size() && std::isfinite(held_out[i].log_value);
        if (!is_told || rows[i].time_s < times_of_shortest * shortest) continue;
        const double forecast = std::exp(held_out[i].log_value);
        by_signature[rows[i].operation.signature][clock] = {rows[i].time_s, forecast, rows[i].time_s * rows[i].power_w,
                                                            forecast * std::exp(held_out[i].log_watts)};
    }
    std::vector<CostAtClocks> by_clock;
    for (auto& [signature, costs] : by_signature) {
        if (costs.size() > 1) by_clock.push_back(std::move(costs));
    }
    // What a power limit kept from the highest clock is told from the highest that it ran at.
    std::ranges::stable_sort(by_clock, {}, [](const CostAtClocks& costs) { return costs.rbegin()->first; });
    return by_clock;
}

/// All of them together at the clocks that each of them ran at, each called so often that it takes a second at the
/// highest.
CostAtClocks sum_of(std::span<const CostAtClocks> operations) {
    CostAtClocks sum;
    for (const auto& [clock, cost] : operations.front()) {
        const auto ran_there = [at = clock](const CostAtClocks& costs) { return costs.contains(at); };
        if (!std::ranges::all_of(operations, ran_there)) continue;
        for (const CostAtClocks& costs : operations)
            sum[clock] += (1 / costs.rbegin()->second.measured_s) * costs.at(clock);
    }
    return sum;
}

double log_ratio_error(double forecast, double forecast_there, double measured, double measured_there) {
    return std::log(forecast / forecast_there / (measured / measured_there));
}

void append_errors(const DeviceModel& device, const CostAtClocks& costs, std::vector<RatioError>& errors) {
    if (costs.size() < 2) return;
    const auto place = [&](std::size_t clock) {
        const TrainedClock& trained = device.over_clocks->trained[clock];
        return place_of(*device.clocks, trained.sm_clock_mhz, trained.memory_clock_mhz);
    };
    const auto& [highest, reference] = *costs.rbegin();
    const ClockPlace there = place(highest);
    for (const auto& [clock, cost] : costs) {
        if (clock == highest) continue;
        const ClockPlace here = place(clock);
        const double time =
            log_ratio_error(cost.forecast_s, reference.forecast_s, cost.measured_s, reference.measured_s);
        const double energy =
            log_ratio_error(cost.forecast_j, reference.forecast_j, cost.measured_j, reference.measured_j);
        errors.push_back({clock_distance(here.x, here.y, {there.x, there.y}), time, energy - time, energy});
    }
}

std::vector<RatioError> errors_of_operations(const DeviceModel& device, std::span<const TrainingRow> rows,
                                             std::span<const HeldOutTime> held_out) {
    const std::vector<CostAtClocks> operations = operations_at_clocks(*device.over_clocks, rows, held_out);
    std::vector<RatioError> errors;
    for (std::size_t begin = 0; begin < operations.size();) {
        const std::size_t highest = operations[begin].rbegin()->first;
        std::size_t end = begin;
        while (end < operations.size() && end < begin + operations_of_set && operations[end].rbegin()->first == highest)
            ++end;
        if (end == begin + operations_of_set)
            append_errors(device, sum_of(std::span(operations).subspan(begin, end - begin)), errors);
        begin = end;
    }
    return errors;
}

/// Of networks forecast from operations that were held out; `models` receives whose errors there are.
std::vector<RatioError> errors_of_networks(const DeviceModel& device, const MeasuredOperations& times,
                                           std::span<const TrainingNetwork> networks, std::set<std::string>& models) {
    const auto columns = all_columns();
    ForecastCache known(device, columns, times);
    std::vector<RatioError> errors;
    for (const NetworkRatio& ratio : network_ratios(known, networks)) {
        const RelativeCost& forecast = ratio.forecast;
        errors.push_back({ratio.distance, std::log(forecast.time.value.value() / ratio.measured_time()),
                          std::log(forecast.power.value.value() / ratio.measured_power()),
                          std::log(forecast.energy.value.value() / ratio.measured_energy())});
        models.insert(ratio.measured.model);
    }
    return errors;
}

/// The root of the mean square by those weights, without spreads that nothing is known of.
double pooled(std::initializer_list<std::pair<double, double>> spreads_and_weights) {
    double sum = 0, weights = 0;
    for (const auto& [spread, weight] : spreads_and_weights) {
        if (!(spread > 0)) continue;
        sum += weight * spread * spread;
        weights += weight;
    }
    return std::sqrt(sum / weights);
}

}  // namespace

RatioSpread ratio_spread_of(std::span<const RatioError> errors) {
    std::vector<double> time, power, energy;
    const auto add = [](std::vector<double>& to, double log_error, double share) {
        if (std::isfinite(log_error) && share > 0) to.push_back(std::abs(log_error) / share);
    };
    for (const RatioError& error : errors) {
        add(time, error.time, ratio_share_of_time(error.distance));
        add(power, error.power, ratio_share_of_power(error.distance));
        add(energy, error.energy, ratio_share_of_power(error.distance));
    }
    const auto spread = [](const std::vector<double>& scores) {
        return scores.empty() ? 0 : next_quantile(scores, 0.9) / normal_90;
    };
    return {spread(time), spread(power), spread(energy)};
}

void calibrate_ratios(DeviceModel& device, std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out,
                      std::span<const TrainingNetwork> networks) {
    if (!device.over_clocks || !device.clocks) return;
    std::set<std::string> models;
    const RatioSpread of_operations = ratio_spread_of(errors_of_operations(device, rows, held_out));
    const RatioSpread of_networks =
        ratio_spread_of(errors_of_networks(device, held_out_operations(rows, held_out), networks, models));
    const auto weight = static_cast<double>(models.size());
    const auto together = [&](double RatioSpread::* of) {
        return pooled(
            {{usual.*of, models_of_default}, {of_operations.*of, models_of_operations}, {of_networks.*of, weight}});
    };
    device.over_clocks->ratio = {together(&RatioSpread::time), together(&RatioSpread::power),
                                 together(&RatioSpread::energy)};
}

}  // namespace joulecast
