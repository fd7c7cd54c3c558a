#include "joulecast/evaluate/summed_calls.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "joulecast/forecast/clock_balance.h"
#include "joulecast/forecast/forecast_curve.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/graph/family.h"
#include "joulecast/train/rows_over_clocks.h"

namespace joulecast {
namespace {

/// Clocks that near count as the same.
constexpr double same_clock = 0.005;

/// The curve of one clock's model, by which calls are moved to where a network ran; absent where calls stand where they
/// are.
std::optional<ClockParameters> curve_of_calls(const DeviceModel& device, double network_mhz) {
    const bool is_gpu = device.device.kind == Device::Kind::gpu;
    if (!is_gpu || device.over_clocks || !(network_mhz > 0) || !why_no_clocks(device).empty()) return {};
    if (!missing_for_clocks(device.device).empty()) return {};
    return clock_parameters(device);
}

struct MovedCost {
    double time_s = 0;
    double energy_j = 0;
};

/// A call that was measured at a lower clock, at the network's.
MovedCost moved_up(const OperationForecast& call, double call_mhz, double network_mhz,
                   const ClockParameters& parameters) {
    const double seconds = call.cost.device_time.value.value();
    const double from = call_mhz / parameters.highest_mhz;
    const double to = std::min(1.0, network_mhz / parameters.highest_mhz);
    const WorkloadCurve curve =
        curve_of_call(call.balance, seconds, 0, parameters, {from, 1, seconds, call.power.value.value()});
    return {curve.time_s(to), curve.energy_j(to)};
}

/// The clock that a measured operation was read at; NaN of several.
double clock_of(const MeasuredOperations& measured, const std::string& signature) {
    const auto found = measured.find(signature);
    const bool is_one = found != measured.end() && found->second.at_clocks.size() == 1;
    return is_one ? found->second.at_clocks.front().sm_clock_mhz : std::numeric_limits<double>::quiet_NaN();
}

bool is_of_device(const MeasuredOperations& measured) {
    return !measured.empty() && std::ranges::all_of(measured, [](const auto& one) { return one.second.is_of_device; });
}

}  // namespace

SummedCalls summed_calls(const TrainingNetwork& network, const DeviceModel& device,
                         std::span<const Feature* const> columns, const MeasuredOperations& measured) {
    SummedCalls sum;
    double of_measured = 0;
    sum.is_of_device = is_of_device(measured);
    const double network_mhz = network.measurement.real.sm_clock_mhz;
    const auto curve = sum.is_of_device ? curve_of_calls(device, network_mhz) : std::nullopt;
    const ClockPlace place = place_of(device, network.measurement);
    for (const CountedOperation& counted : count_operations(network.graph)) {
        if (sum.is_of_device && costs_nothing(family(counted.operation))) continue;
        const PreparedOperation call = prepare(counted.operation, device, place);
        const OperationForecast forecast = forecast_operation(device, columns, call, measured);
        const auto count = static_cast<double>(counted.count);
        MovedCost cost{forecast.cost.device_time.value.value(), forecast.energy.value.value()};
        const double call_mhz = clock_of(measured, call.signature);
        if (curve && call_mhz < (1 - same_clock) * network_mhz && cost.time_s > 0)
            cost = moved_up(forecast, call_mhz, network_mhz, *curve);
        sum.time_s += count * cost.time_s;
        sum.energy_j += count * cost.energy_j;
        if (forecast.evidence == Evidence::measured) of_measured += count * cost.time_s;
    }
    sum.measured_share = sum.time_s > 0 ? of_measured / sum.time_s : 0;
    return sum;
}

}  // namespace joulecast
