#include "joulecast/forecast/forecast_calls.h"

#include <algorithm>
#include <cmath>

#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

/// How far bytes moved alone tell one element-wise kernel's time from another's. An assumption.
constexpr double fused_spread = 1.3;

template <class Unit>
void multiply(Estimate<Unit>& estimate, double factor, double spread) {
    estimate = {estimate.value * factor, estimate.low * (factor / spread), estimate.high * (factor * spread)};
}

/// Turns the forecast of the stand-in into that of the call for a list of parameters.
void stand_in(OperationForecast& forecast, const CallKind& kind) {
    forecast.operation.target = kind.called;
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

}  // namespace

std::vector<OperationForecast> forecast_calls(const IssueOrder& order, ForecastCache& known) {
    std::vector<OperationForecast> operations;
    operations.reserve(order.kinds.size());
    for (const CallKind& kind : order.kinds) {
        OperationForecast& operation = operations.emplace_back(known.forecast(kind.operation));
        operation.count = kind.count;
        operation.part = kind.part;
        if (!kind.called.empty()) stand_in(operation, kind);
    }
    return operations;
}

}  // namespace joulecast
