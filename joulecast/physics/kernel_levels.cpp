#include "joulecast/physics/kernel_levels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/physics/law.h"
#include "joulecast/physics/nelder_mead.h"
#include "joulecast/physics/non_negative_least_squares.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr int evaluations = 600;
constexpr double soft_error = 0.1;  // log errors beyond it count linearly
constexpr double pull = 0.02;       // of one workload, for a level off by a factor of e
constexpr std::size_t least_workloads = 6;
constexpr double tdp_of_a100_w = 250;

double filled_share(const ListedKernel& kernel, const KernelLevels& levels, int units) {
    const double over_units = kernel.tiles > 0 ? kernel.tiles / (kernel.tiles + levels.waves * units) : 1;
    const double over_depth = kernel.depth > 0 ? kernel.depth / (kernel.depth + levels.ramp) : 1;
    return over_units * over_depth;
}

KernelTime time_of(const ListedKernel& kernel, const KernelLevels& levels, int units) {
    const double reached = kernel.on_matrix_units ? levels.matrix : levels.vector;
    return {kernel.flop_s / (reached * filled_share(kernel, levels, units)), kernel.byte_s / levels.bandwidth,
            clocked_share_of_latency * levels.latency_s};
}

double device_s(std::span<const ListedKernel> kernels, const KernelLevels& levels, int units,
                const ClockParameters& parameters, double x, double y) {
    double sum = 0;
    for (const ListedKernel& kernel : kernels)
        sum += kernel.count * kernel_time(time_of(kernel, levels, units), parameters, x, y);
    return sum;
}

std::array<double KernelLevels::*, 6> fitted_levels() {
    return {&KernelLevels::matrix,    &KernelLevels::vector, &KernelLevels::bandwidth,
            &KernelLevels::latency_s, &KernelLevels::host_s, &KernelLevels::waves};
}

KernelLevels scaled(const KernelLevels& start, std::span<const double> logs) {
    KernelLevels levels = start;
    const auto parts = fitted_levels();
    for (std::size_t i = 0; i < parts.size(); ++i) levels.*parts[i] *= std::exp(std::clamp(logs[i], -4.0, 4.0));
    return levels;
}

double soft_l1(double error) {
    const double scaled_error = error / soft_error;
    return 2 * (std::sqrt(1 + scaled_error * scaled_error) - 1);
}

/// Rates and shares that PowerLevels multiply, at the clocks and the time of the point.
std::array<double, 4> draws(std::span<const ListedKernel> kernels, const KernelLevels& levels, int units,
                            const ClockParameters& parameters, const ClockedPoint& at) {
    std::array<double, 4> parts{};
    for (const ListedKernel& kernel : kernels) {
        const double busy = kernel.count * kernel_time(time_of(kernel, levels, units), parameters, at.x, at.y);
        parts[0] += kernel.count * kernel.flop_s / at.time_s;
        parts[1] += kernel.count * kernel.byte_s / at.time_s;
        parts[kernel.is_product ? 2 : 3] += busy / at.time_s;
    }
    // Kernels of a host that waits for none of them may overlap: no share is more than all of the time.
    const double busy = std::max(1.0, parts[2] + parts[3]);
    const double voltage = relative_voltage(parameters, at.x) / relative_voltage(parameters, 1);
    for (double& part : parts) part *= voltage * voltage;
    parts[2] *= at.x / busy;
    parts[3] *= at.x / busy;
    return parts;
}

double drawn_w(const PowerLevels& power, const std::array<double, 4>& parts) {
    return power.flop_w * parts[0] + power.byte_w * parts[1] + power.product_w * parts[2] + power.other_w * parts[3];
}

}  // namespace

std::vector<KernelTime> kernel_times(std::span<const ListedKernel> kernels, const KernelLevels& levels, int units) {
    std::vector<KernelTime> times;
    for (const ListedKernel& kernel : kernels) times.push_back(kernel.count * time_of(kernel, levels, units));
    return times;
}

double issuing_s(std::span<const ListedKernel> kernels, const KernelLevels& levels) {
    double calls = 0;
    for (const ListedKernel& kernel : kernels) calls += kernel.count;
    return calls * levels.host_s;
}

double workload_s(std::span<const ListedKernel> kernels, const KernelLevels& levels, int units,
                  const ClockParameters& parameters, double x, double y) {
    return overlapped(device_s(kernels, levels, units, parameters, x, y), issuing_s(kernels, levels));
}

double workload_w(std::span<const ListedKernel> kernels, const KernelLevels& levels, const PowerLevels& power,
                  int units, const ClockParameters& parameters, double x, double y) {
    const ClockedPoint at{x, y, workload_s(kernels, levels, units, parameters, x, y)};
    return static_w(parameters, x, y) + drawn_w(power, draws(kernels, levels, units, parameters, at));
}

KernelLevels fit_kernel_levels(const KernelLevels& start, std::span<const ListedWorkload> workloads, int units,
                               const ClockParameters& parameters) {
    if (workloads.empty()) return start;
    const auto value = [&](std::span<const double> logs) {
        const KernelLevels levels = scaled(start, logs);
        double sum = 0;
        for (const ListedWorkload& workload : workloads) {
            const double forecast =
                workload_s(workload.kernels, levels, units, parameters, workload.point.x, workload.point.y);
            sum += soft_l1(std::log(forecast / workload.point.time_s));
        }
        for (const double log : logs) sum += pull * log * log / (soft_error * soft_error);
        return sum / static_cast<double>(workloads.size());
    };
    return scaled(start, nelder_mead(value, std::vector<double>(fitted_levels().size(), 0.0), 0.3, evaluations));
}

PowerLevels fit_power_levels(const PowerLevels& otherwise, std::span<const ListedWorkload> workloads,
                             const KernelLevels& levels, int units, const ClockParameters& parameters) {
    std::vector<double> rows;
    std::vector<double> targets;
    std::vector<double> scales;
    for (const ListedWorkload& workload : workloads) {
        if (!(workload.point.power_w > 0)) continue;
        const auto parts = draws(workload.kernels, levels, units, parameters, workload.point);
        const double above = workload.point.power_w - static_w(parameters, workload.point.x, workload.point.y);
        for (const double part : parts) rows.push_back(part / workload.point.power_w);
        targets.push_back(above / workload.point.power_w);
        const double by_default = drawn_w(otherwise, parts);
        if (above > 0 && by_default > 0) scales.push_back(above / by_default);
    }
    if (targets.size() < least_workloads) {
        PowerLevels scaled_levels = otherwise;
        const double scale = scales.empty() ? 1 : median(scales);
        for (double* level :
             {&scaled_levels.flop_w, &scaled_levels.byte_w, &scaled_levels.product_w, &scaled_levels.other_w})
            *level *= scale;
        return scaled_levels;
    }
    const auto weights = non_negative_least_squares(rows, targets);
    return {weights[0], weights[1], weights[2], weights[3]};
}

PowerLevels default_power_levels(const Device& device) {
    const double scale = device.tdp_w / tdp_of_a100_w;
    const PowerLevels a100;
    return {a100.flop_w * scale, a100.byte_w * scale, a100.product_w * scale, a100.other_w * scale};
}

}  // namespace joulecast
