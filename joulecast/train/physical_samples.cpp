#include "joulecast/train/physical_samples.h"

#include <algorithm>
#include <set>
#include <string>

#include "joulecast/forecast/device_power.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

/// Of the data sheet's rates, what kernels of networks reach (A100: 0.67 of both tensor peak and bandwidth).
constexpr double reached_share = 0.67;

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

constexpr std::size_t least_devices = 6;

std::size_t devices_in(std::span<const KernelPowerSample> samples) {
    std::set<std::string> devices;
    for (const KernelPowerSample& sample : samples) devices.insert(sample.device.id);
    return devices.size();
}

}  // namespace

Activity activity(const Graph& graph, const Device& device, Math math, double seconds, double relative_clock) {
    Activity sum;
    for (const CountedOperation& counted : count_operations(graph)) {
        const PreparedOperation operation = prepare(counted.operation, device, math);
        if (costs_nothing(operation.family())) continue;
        const auto count = static_cast<double>(counted.count);
        const double kernel =
            std::max(operation.roofline.flop_s / relative_clock, operation.roofline.byte_s) / reached_share +
            usual_kernel_latency_s;
        const Activity activity = joulecast::activity(operation, device, math, kernel, kernel);
        sum.flop_share += count * operation.roofline.flop_s;
        sum.byte_share += count * operation.roofline.byte_s;
        sum.matrix_share += count * kernel * activity.matrix_share;
        sum.other_share += count * kernel * activity.other_share;
        sum.tensor_share += count * kernel * activity.tensor_share;
    }
    const double kernels = sum.matrix_share + sum.other_share;
    sum.flop_share = std::min(1.0, sum.flop_share / seconds);
    sum.byte_share = std::min(1.0, sum.byte_share / seconds);
    sum.matrix_share /= std::max(seconds, kernels);
    sum.other_share /= std::max(seconds, kernels);
    sum.tensor_share /= std::max(seconds, kernels);
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

std::optional<KernelPowerSample> power_sample(const Device& device, const TrainingNetwork& network) {
    const NetworkMeasurement& m = network.measurement;
    const double watts = measured_watts(m);
    if (!has_sheet(device) || !(watts > 0) || !(m.time.median_s > 0)) return std::nullopt;
    const double x = relative_clock(device, m.real.sm_clock_mhz > 0 ? m.real : m.asked);
    return KernelPowerSample{device, activity(network.graph, device, m.real.math, m.time.median_s, x), x,
                             limit_of(m.real, m.asked), watts};
}

PhysicalPower physical_power_from(std::span<const KernelPowerSample> samples) {
    return devices_in(samples) < least_devices ? shipped_physical_power() : fit_physical_power(samples);
}

}  // namespace joulecast
