#include "joulecast/train/physical_samples.h"

#include <algorithm>
#include <string>

#include "joulecast/forecast/clock_balance.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

bool has_sheet(const Device& device) {
    return device.kind == Device::Kind::gpu && missing_for_power(device).empty();
}

double limit_of(const OperatingPoint& real, const OperatingPoint& asked) {
    return real.power_limit_w > 0 ? real.power_limit_w : asked.power_limit_w;
}

/// What a call takes beyond its issuing; replayed from a graph, all of it.
double kernel_seconds(const DeviceModel& device, const TrainingRow& row) {
    if (device.point.host == Host::graph || device.point.host == Host::compiled) return row.time_s;
    return beyond_floor(row.time_s, issue_seconds(device, row.operation, row.time_s));
}

constexpr std::size_t least_chips = 6;

}  // namespace

std::optional<Activity> activity(const DeviceModel& model, std::span<const Feature* const> columns, const Graph& graph,
                                 double seconds, double relative_clock) {
    Activity sum;
    double issued = 0;
    double kernels = 0;
    for (const OperationForecast& call : forecast_operations(model, columns, graph, {})) {
        const PreparedOperation operation = prepare(call.operation, model.device, model.point.math);
        if (costs_nothing(operation.family())) continue;
        const auto count = static_cast<double>(call.count);
        double kernel = kernel_seconds(call);
        const Activity doing = activity(operation, model.device, model.point.math, kernel, kernel);
        sum.flop_share += count * kernel * doing.flop_share;
        sum.byte_share += count * kernel * doing.byte_share;
        // Slower clocks leave what waits for memory as long as it was.
        if (operation.roofline.flop_s > operation.roofline.byte_s) kernel /= relative_clock;
        sum.matrix_share += count * kernel * doing.matrix_share;
        sum.other_share += count * kernel * doing.other_share;
        sum.tensor_share += count * kernel * doing.tensor_share;
        issued += count * call.cost.host_time.value.value();
        kernels += count * kernel;
    }
    if (!(kernels > issued)) return std::nullopt;
    sum.flop_share = std::min(1.0, sum.flop_share / seconds);
    sum.byte_share = std::min(1.0, sum.byte_share / seconds);
    sum.matrix_share /= kernels;
    sum.other_share /= kernels;
    sum.tensor_share /= kernels;
    return sum;
}

std::vector<KernelPowerSample> power_samples(const DeviceModel& device, std::span<const TrainingRow> rows) {
    std::vector<KernelPowerSample> samples;
    if (!has_sheet(device.device)) return samples;
    for (const TrainingRow& row : rows) {
        if (!(row.power_w > 0)) continue;
        samples.push_back(
            {device.device,
             activity(row.operation, device.device, device.point.math, row.time_s, kernel_seconds(device, row)),
             relative_clock(device), device.point.power_limit_w, row.power_w});
    }
    return samples;
}

std::optional<KernelPowerSample> power_sample(const DeviceModel& model, std::span<const Feature* const> columns,
                                              const TrainingNetwork& network) {
    const NetworkMeasurement& m = network.measurement;
    const Device& device = model.device;
    const double watts = measured_watts(m);
    if (!has_sheet(device) || !(watts > 0) || !(m.time.median_s > 0)) return std::nullopt;
    const double x = relative_clock(device, m.real.sm_clock_mhz > 0 ? m.real : m.asked);
    const auto doing = activity(model, columns, network.graph, m.time.median_s, x);
    if (!doing) return std::nullopt;
    return KernelPowerSample{device, *doing, x, limit_of(m.real, m.asked), watts};
}

PhysicalPower physical_power_from(std::span<const KernelPowerSample> samples) {
    return count_chips(samples) < least_chips ? shipped_physical_power() : fit_physical_power(samples);
}

}  // namespace joulecast
