#include "joulecast/forecast/forecast_calls.h"

#include <algorithm>
#include <cmath>

#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

/// How far bytes moved alone tell one element-wise kernel's time from another's. An assumption.
constexpr double fused_spread = 1.3;
/// How far a copy of strided numbers is from the device's bandwidth. An assumption.
constexpr double copied_spread = 2;

/// How far a kernel of generated code is from the device's bandwidth. An assumption.
constexpr double generated_spread = 1.3;

template <class Unit>
void multiply(Estimate<Unit>& estimate, double factor, double spread) {
    estimate = {estimate.value * factor, estimate.low * (factor / spread), estimate.high * (factor * spread)};
}

/// Turns the forecast of the stand-in into that of the call for a list of parameters.
void stand_in(OperationForecast& forecast, const CallKind& kind) {
    forecast.operation.target = kind.called;
    forecast.error = nullptr;
    const double call = forecast.cost.device_time.value.value();
    const double issue = forecast.cost.host_time.value.value();
    const double host = std::min(call, issue);
    const double kernel = std::isnan(forecast.kernel_s) ? beyond_floor(call, host) : forecast.kernel_s;
    const double whole = overlapped(host, kernel);
    const double longer = whole > 0 ? overlapped(kind.launches * host, kind.work * kernel) / whole : 1;
    const double spread = kind.work == 1 ? 1 : fused_spread;
    multiply(forecast.cost.device_time, longer, spread);
    multiply(forecast.cost.host_time, kind.launches, 1);
    multiply(forecast.cost.dynamic_energy, kind.work, spread);
    multiply(forecast.energy, longer, spread);
    forecast.kernel_s *= kind.work;
    forecast.cost.peak_memory = {};
    if (kind.work != 1) forecast.evidence = Evidence::analytic;
}

/// Turns the forecast of a call into that of the kernel of generated code that it stands for, which draws what the call
/// draws.
void take_kernel(OperationForecast& forecast, const CallKind& kind) {
    const double host = forecast.cost.host_time.value.value();
    const double call = forecast.cost.device_time.value.value();
    const double whole = std::max(host, kind.kernel_s);
    const double longer = call > 0 ? whole / call : 1;
    multiply(forecast.cost.dynamic_energy, longer, 1);
    multiply(forecast.energy, longer, 1);
    forecast.cost.device_time = {Seconds(whole), Seconds(whole / generated_spread), Seconds(whole * generated_spread)};
    forecast.kernel_s = kind.kernel_s;
    forecast.evidence = Evidence::analytic;
}

/// What the call takes in its role of what it takes alone; of a view that is copied, what moving the bytes takes.
void take_role(OperationForecast& forecast, const CallKind& kind, const Device& device) {
    forecast.role = kind.role;
    const double copy_s = kind.moved_bytes / device.bandwidth_bytes_per_s;
    if (copy_s > 0) {
        forecast.cost.device_time = {Seconds(copy_s), Seconds(copy_s / copied_spread), Seconds(copy_s * copied_spread)};
        forecast.evidence = Evidence::analytic;
    }
    if (kind.kernel_s > 0) take_kernel(forecast, kind);
    if (kind.role_factor == 1) return;
    multiply(forecast.cost.device_time, kind.role_factor, 1);
    multiply(forecast.cost.host_time, kind.role_factor, 1);
    multiply(forecast.cost.dynamic_energy, kind.role_factor, 1);
    multiply(forecast.energy, kind.role_factor, 1);
    forecast.kernel_s *= kind.role_factor;
}

}  // namespace

std::vector<OperationForecast> forecast_calls(const IssueOrder& order, ForecastCache& known) {
    std::vector<OperationForecast> operations;
    operations.reserve(order.kinds.size());
    for (const CallKind& kind : order.kinds) {
        OperationForecast& operation = operations.emplace_back(known.forecast(kind.operation));
        operation.count = kind.count;
        operation.part = kind.part;
        if (!kind.called.empty()) stand_in(operation, kind);
        if (!kind.role.empty()) take_role(operation, kind, known.device().device);
    }
    return operations;
}

}  // namespace joulecast
