#include "joulecast/forecast/forecast_operation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "joulecast/forecast/analytic_kernel.h"
#include "joulecast/forecast/clock_balance.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/forecast_unseen.h"
#include "joulecast/forecast/issue_cost.h"
#include "joulecast/forecast/log_interval.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/forecast/own_limit.h"
#include "joulecast/forecast/product_copies.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/forecast/unseen_network.h"
#include "joulecast/graph/family.h"

namespace joulecast {
namespace {

/// Without any measurement of its kind a forecast is off by up to about this factor.
constexpr double analytic_factor = 4;
/// A view's cost is the dispatcher's: the smallest fitted floor, give or take this factor.
constexpr double overhead_factor = 2;

/// Between idle and busy, what an operation of a family that was never metered draws above idle is known no better.
constexpr double analytic_power_factor = 1.5;

Estimate<Seconds> within_factor(double value, double factor) {
    return {Seconds(value), Seconds(value / factor), Seconds(value * factor)};
}

Estimate<Bytes> forecast_memory(const DeviceModel& device, std::span<const Feature* const> columns,
                                const PreparedOperation& operation) {
    if (device.published) {
        const Subject subject = subject_of(device, operation);
        const auto told = joulecast::forecast(*device.published, Metric::peak_memory, subject);
        if (!told) return {};
        const double factor = std::exp(told->half_width);
        return {Bytes(told->value), Bytes(told->value / factor), Bytes(told->value * factor)};
    }
    const auto log = forecast_log(device, columns, operation, Metric::peak_memory);
    if (!log) return {};
    const auto at = [&](double shift) {
        return Bytes(std::max(0.0, std::exp(log->log_value + shift) - memory_offset_bytes));
    };
    return {at(0), at(-log->half_width), at(log->half_width)};
}

Estimate<Seconds> analytic_time(const DeviceModel& device, const PreparedOperation& operation) {
    const double least = device.unseen ? least_eager_kernel_s(operation, device.device) : 0;
    if (const Law* law = find_law(device, operation.operation, operation.family())) {
        return within_factor(std::max(seconds(*law, operation.roofline), least), analytic_factor);
    }
    const double work = std::max(analytic_slowdown * seconds(operation.roofline), least);
    return within_factor(std::max(work, device.call_overhead_s), analytic_factor);
}

/// A call by itself: its kernel as measurements tell it, and the launch that `unadjusted_s` has beside its kernel,
/// which is known as little as it was.
Estimate<Seconds> with_launch(const AnalyticKernel& kernel, double unadjusted_s) {
    const double launch = std::max(0.0, unadjusted_s - kernel.unadjusted_s);
    const double whole = launch + kernel.seconds;
    const double share = kernel.seconds / whole;
    return within_log<Seconds>(whole, std::hypot(share * kernel.half_width, (1 - share) * std::log(analytic_factor)));
}

/// By the published method alone. It knows no views; what else it cannot tell is unknown, and takes at least what the
/// data sheet says.
void forecast_published_time(const DeviceModel& device, const PreparedOperation& operation,
                             OperationForecast& forecast) {
    if (costs_nothing(operation.family())) {
        forecast.cost.device_time = {Seconds(0), Seconds(0), Seconds(0)};
        forecast.evidence = Evidence::analytic;
    } else if (const auto told = joulecast::forecast(*device.published, Metric::time, subject_of(device, operation))) {
        forecast.cost.device_time = within_factor(told->value, std::exp(told->half_width));
        forecast.evidence = told->inside ? Evidence::interpolated : Evidence::extrapolated;
    } else {
        forecast.cost.device_time = within_factor(seconds(operation.roofline), analytic_factor);
        forecast.evidence = Evidence::unknown;
    }
}

void forecast_time(const DeviceModel& device, std::span<const Feature* const> columns,
                   const PreparedOperation& operation, ForwardKernels& kernels, OperationForecast& forecast) {
    if (device.published) return forecast_published_time(device, operation, forecast);
    auto& time = forecast.cost.device_time;
    const auto log = device.unseen ? forecast_unseen(device, columns, operation, kernels)
                                   : forecast_log(device, columns, operation, Metric::time);
    if (log) {
        time = {Seconds(std::exp(log->log_value)), Seconds(std::exp(log->log_value - log->half_width)),
                Seconds(std::exp(log->log_value + log->half_width))};
        forecast.evidence = log->inside ? Evidence::interpolated : Evidence::extrapolated;
        forecast.kernel_s = log->kernel_s;
        forecast.is_own = log->is_own;
    } else if (!find_record(operation.operation.target)) {
        time = analytic_time(device, operation);
        forecast.evidence = Evidence::unknown;
    } else if (operation.family() == Family::view) {
        const bool is_issued = device.unseen && device.device.kind == Device::Kind::gpu;
        time = within_factor(is_issued ? issue_seconds(device, operation, 0) : device.call_overhead_s, overhead_factor);
        forecast.evidence = Evidence::analytic;
    } else {
        time = analytic_time(device, operation);
        forecast.evidence = Evidence::analytic;
        if (!device.unseen) return;
        const AnalyticKernel kernel = analytic_kernel(device, operation);
        forecast.kernel_s = kernel.seconds;
        if (kernel.half_width > 0) time = with_launch(kernel, time.value.value());
    }
}

/// log(watts) of the call, by the method of the device or by its family's model.
std::optional<LogForecast> forecast_log_watts(const DeviceModel& device, std::span<const Feature* const> columns,
                                              const PreparedOperation& operation) {
    if (!device.published) return forecast_log(device, columns, operation, Metric::power);
    const auto told = joulecast::forecast(*device.published, Metric::power, subject_of(device, operation));
    if (!told) return std::nullopt;
    LogForecast log;
    log.log_value = std::log(told->value);
    log.half_width = told->half_width;
    log.inside = told->inside;
    return log;
}

struct PowerForecast {
    Estimate<Watts> watts;
    PowerEvidence evidence = PowerEvidence::none;
    double unlimited_w = std::numeric_limits<double>::quiet_NaN();
};

PowerForecast forecast_power(const DeviceModel& device, std::span<const Feature* const> columns,
                             const PreparedOperation& operation, const OperationForecast& forecast) {
    const double time = forecast.cost.device_time.value.value();
    const double issue = forecast.cost.host_time.value.value();
    const PowerFacts power = device.over_clocks ? power_facts_at(device, operation.clocks) : device.power;
    if (has_physical_power(device)) {
        const double kernel = std::isnan(forecast.kernel_s) ? beyond_floor(time, issue) : forecast.kernel_s;
        const PhysicalWatts physical = physical_watts(device, operation, time, kernel);
        const bool is_held = physical.unlimited_w > physical.power.value.value() && knows_demand(device);
        return {physical.power, PowerEvidence::physical,
                is_held ? physical.unlimited_w : std::numeric_limits<double>::quiet_NaN()};
    }
    if (!power.known()) return {};
    const double most = std::isnan(power.cap_w) ? std::numeric_limits<double>::infinity() : power.cap_w;
    const auto within = [&](double watts) {
        return Watts(std::clamp(watts, power.idle_w, std::max(most, power.idle_w)));
    };
    if (costs_nothing(operation.family()) || !(time > 0))
        return {{Watts(power.idle_w), Watts(power.idle_w), within(power.busy_w)}, PowerEvidence::shared};
    if (const auto log = forecast_log_watts(device, columns, operation)) {
        const double watts = std::exp(log->log_value);
        const double factor = std::exp(log->half_width);
        return {{within(watts), within(watts / factor), within(watts * factor)}, PowerEvidence::learned};
    }
    // Nothing of its family was metered. What draws power is work: the share of the call beyond its launch.
    const double busy = beyond_floor(time, issue) / time;
    const double above_idle = busy * (power.busy_w - power.idle_w);
    return {{within(power.idle_w + above_idle), within(power.idle_w + above_idle / analytic_power_factor),
             within(power.idle_w + above_idle * analytic_power_factor)},
            PowerEvidence::shared};
}

/// Energy is power times time; their errors are taken as independent.
void set_energy(const DeviceModel& device, const ClockPlace& clocks, OperationForecast& forecast) {
    if (!forecast.power.known()) return;
    const double watts = forecast.power.value.value();
    const double time = forecast.cost.device_time.value.value();
    const double time_half = log_half_width(forecast.cost.device_time);
    const double power_half = log_half_width(forecast.power);
    forecast.energy = within_log<Joules>(watts * time, std::hypot(time_half, power_half));
    const double known_idle = power_facts_at(device, clocks).idle_w;
    const double idle = std::isnan(known_idle) ? 0 : known_idle;
    const double above = std::max(0.0, std::fmax(watts, forecast.unlimited_w) - idle);
    // A share of the whole power is a larger share of what is above idle; at idle it is all of it.
    const double above_half = above > 0 ? std::min(largest_half_width, power_half * watts / above) : 0;
    forecast.cost.dynamic_energy = within_log<Joules>(above * time, std::hypot(time_half, above_half));
}

/// Clocks this near count as the one that was measured.
constexpr double same_clock = 0.01;
/// What was measured at another clock and moved by the model is off by so much more (log), in proportion to the
/// logarithm of the clocks' ratio; between two measured clocks by half of that.
constexpr double moved_half_width = 0.1;

double clock_ratio(const ClockPlace& a, const ClockPlace& b) {
    return std::hypot(std::log(a.x / b.x), std::log(a.y / b.y));
}

/// What a measurement of the operation says at other clocks than it was measured at.
struct Moved {
    double log_factor = 0;  ///< of time, over what the model says there
    double log_power_factor = std::numeric_limits<double>::quiet_NaN();
    ClockPlace clocks;
    const MeasuredAtClock* measured = nullptr;
};

template <class Unit>
Estimate<Unit> scaled_forecast(const Estimate<Unit>& forecast, double log_factor, double half_width) {
    return within_log<Unit>(forecast.value.value() * std::exp(log_factor), half_width);
}

class MeasuredOverClocks {
  public:
    MeasuredOverClocks(const DeviceModel& device, std::span<const Feature* const> columns,
                       const PreparedOperation& operation, const MeasuredOperation& measured)
        : device_(device), columns_(columns), operation_(operation) {
        for (const MeasuredAtClock& at_clock : measured.at_clocks) {
            const ClockPlace at = place_of(*device.clocks, at_clock.sm_clock_mhz, at_clock.memory_clock_mhz);
            places_.push_back({0, std::numeric_limits<double>::quiet_NaN(), at, &at_clock});
        }
    }

    /// The measurement at the operation's own clocks, if there is one.
    const MeasuredAtClock* here() const {
        for (const Moved& place : places_) {
            if (clock_ratio(place.clocks, operation_.clocks) < same_clock) return place.measured;
        }
        return nullptr;
    }

    bool empty() const { return places_.empty(); }

    /// Moves the model's forecast so that it goes through what was measured at the clocks on either side.
    void correct(OperationForecast& forecast) {
        const auto [below, above] = neighbours();
        const double whole = std::log(above.clocks.x / below.clocks.x);
        const double share =
            whole > 0 ? std::clamp(std::log(operation_.clocks.x / below.clocks.x) / whole, 0.0, 1.0) : 0;
        const double nearest =
            std::min(clock_ratio(below.clocks, operation_.clocks), clock_ratio(above.clocks, operation_.clocks));
        const bool is_between =
            whole > 0 && operation_.clocks.x >= below.clocks.x && operation_.clocks.x <= above.clocks.x;
        const double own = log_half_width(below.measured->time);
        const double half = std::hypot(own, moved_half_width * nearest * (is_between ? 0.5 : 1));
        const auto mixed = [share](double a, double b) { return (1 - share) * a + share * b; };
        forecast.cost.device_time =
            scaled_forecast(forecast.cost.device_time, mixed(below.log_factor, above.log_factor), half);
        forecast.evidence = is_between ? Evidence::interpolated : Evidence::extrapolated;
        const double of_power = mixed(below.log_power_factor, above.log_power_factor);
        if (!std::isnan(of_power) && forecast.power.known())
            forecast.power = scaled_forecast(forecast.power, of_power, half);
    }

  private:
    std::pair<Moved, Moved> neighbours() {
        // At the nearest memory clock, the core clocks on either side.
        const double y = std::ranges::min_element(places_, {}, [&](const Moved& place) {
                             return std::abs(std::log(place.clocks.y / operation_.clocks.y));
                         })->clocks.y;
        const Moved* below = nullptr;
        const Moved* above = nullptr;
        for (const Moved& place : places_) {
            if (place.clocks.y != y) continue;
            if (place.clocks.x <= operation_.clocks.x && (!below || place.clocks.x > below->clocks.x)) below = &place;
            if (place.clocks.x >= operation_.clocks.x && (!above || place.clocks.x < above->clocks.x)) above = &place;
        }
        if (!below) below = above;
        if (!above) above = below;
        Moved low = told(*below);
        return {low, above == below ? low : told(*above)};
    }

    /// How far the model is off where it was measured.
    Moved told(Moved place) {
        const PreparedOperation there = at_clocks(operation_, place.clocks);
        OperationForecast forecast;
        forecast.cost.host_time = {Seconds(0), Seconds(0), Seconds(0)};
        ForwardKernels none;
        forecast_time(device_, columns_, there, none, forecast);
        place.log_factor = std::log(place.measured->time.value / forecast.cost.device_time.value);
        if (!place.measured->power.known()) return place;
        const double issue = issue_seconds(device_, there, forecast.cost.device_time.value.value());
        forecast.cost.host_time = {Seconds(issue), Seconds(issue), Seconds(issue)};
        const PowerForecast power = forecast_power(device_, columns_, there, forecast);
        if (power.watts.known()) place.log_power_factor = std::log(place.measured->power.value / power.watts.value);
        return place;
    }

    const DeviceModel& device_;
    std::span<const Feature* const> columns_;
    const PreparedOperation& operation_;
    std::vector<Moved> places_;
};

Estimate<Seconds> slower(const Estimate<Seconds>& time, double factor) {
    return {Seconds(time.value.value() * factor), Seconds(time.low.value() * factor),
            Seconds(time.high.value() * factor)};
}

/// As a database has it, else as the predictor does; nullptr where neither knows the operation.
const MeasuredOperation* find_measured(const DeviceModel& device, const MeasuredOperations& measured,
                                       const PreparedOperation& operation) {
    if (measured.empty() && device.kept.empty()) return nullptr;
    const std::string own = operation.signature.empty() ? signature(operation.operation) : "";
    const std::string& key = own.empty() ? operation.signature : own;
    if (const auto found = measured.find(key); found != measured.end()) return &found->second;
    const auto kept = device.kept.find(key);
    return kept == device.kept.end() ? nullptr : &kept->second;
}

/// All of a forecast but the operation, whose copy would take long beside it.
OperationForecast without_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                    const PreparedOperation& operation, const MeasuredOperations& measured,
                                    ForwardKernels& known) {
    OperationForecast forecast;
    forecast.balance = clock_balance(operation, device.device, operation.math);
    forecast.cost.host_time = {Seconds(0), Seconds(0), Seconds(0)};
    if (device.unseen) {
        forecast.turned_bytes = image_copies_bytes(operation, device.device);
        forecast.error = std::make_shared<const KernelError>(kernel_error(operation, device.device));
    }
    const MeasuredOperation* const found = find_measured(device, measured, operation);
    std::optional<MeasuredOverClocks> over_clocks;
    if (found && device.over_clocks) over_clocks.emplace(device, columns, operation, *found);
    const MeasuredAtClock* here = over_clocks ? over_clocks->here() : nullptr;
    const bool is_measured = device.over_clocks ? here != nullptr : found != nullptr;
    const bool is_moved = over_clocks && !over_clocks->empty() && !here;
    if (is_measured) {
        forecast.cost.device_time = here ? here->time : found->time;
        forecast.evidence = Evidence::measured;
    } else if (operation.family() == Family::symbolic) {
        forecast.cost.device_time = {Seconds(0), Seconds(0), Seconds(0)};
        forecast.evidence = Evidence::analytic;
    } else {
        forecast_time(device, columns, operation, known, forecast);
    }
    if (device.pace != 1) forecast.cost.device_time = slower(forecast.cost.device_time, device.pace);
    if (device.device.kind == Device::Kind::gpu) {
        // Where issuing was measured apart, the time is all of it the device's.
        const TrainedLaw* law =
            device.unseen ? nullptr : find_trained_law(device, operation.operation, operation.family());
        const bool is_told = is_measured && found->is_of_device;
        if (((law && law->issue_s) || is_told) && !costs_nothing(operation.family()))
            forecast.kernel_s = forecast.cost.device_time.value.value();
        const double floor = issue_seconds(device, operation, forecast.cost.device_time.value.value());
        forecast.cost.host_time = {Seconds(floor), Seconds(floor), Seconds(floor)};
    }
    const Estimate<Watts> metered = !is_measured ? Estimate<Watts>{} : here ? here->power : found->power;
    if (metered.known()) {
        forecast.power = metered;
        forecast.power_evidence = PowerEvidence::measured;
    } else {
        const PowerForecast power = forecast_power(device, columns, operation, forecast);
        forecast.power = power.watts;
        forecast.power_evidence = power.evidence;
        forecast.unlimited_w = power.unlimited_w;
    }
    if (is_moved && operation.family() != Family::symbolic) {
        over_clocks->correct(forecast);
        if (!std::isnan(forecast.kernel_s)) forecast.kernel_s = forecast.cost.device_time.value.value();
    }
    set_energy(device, operation.clocks, forecast);
    if (operation.family() == Family::symbolic && !is_measured) return forecast;
    forecast.cost.peak_memory = forecast_memory(device, columns, operation);
    return forecast;
}

}  // namespace

double issue_seconds(const DeviceModel& device, const PreparedOperation& operation, double call_s) {
    // Where launches were measured, they may have been those of a CUDA graph; Python issues eagerly.
    if (device.unseen)
        return pace_of_hosts(*device.unseen, device.device) *
               (issue_from_cpp_s(operation, device.device) +
                python_call_s(mode(operation.operation), device.device.kind));
    if (costs_nothing(operation.family())) return call_s;
    const TrainedLaw* law = find_trained_law(device, operation.operation, operation.family());
    if (law && law->issue_s) return *law->issue_s;
    return std::min(call_s, law ? law->law.floor_s : device.call_overhead_s);
}

OperationForecast forecast_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                     const PreparedOperation& operation, const MeasuredOperations& measured) {
    ForwardKernels none;
    OperationForecast forecast = without_operation(device, columns, operation, measured, none);
    forecast.operation = operation.operation;
    return forecast;
}

OperationForecast forecast_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                     PreparedOperation&& operation, const MeasuredOperations& measured,
                                     ForwardKernels& known) {
    OperationForecast forecast = without_operation(device, columns, operation, measured, known);
    forecast.operation = std::move(operation.operation);
    return forecast;
}

std::vector<OperationForecast> forecast_operations(const DeviceModel& device, std::span<const Feature* const> columns,
                                                   const Graph& graph, const MeasuredOperations& measured) {
    std::vector<OperationForecast> operations;
    for (const CountedOperation& counted : count_operations(graph)) {
        operations.push_back(forecast_operation(device, columns, prepare(counted.operation, device), measured));
        operations.back().count = counted.count;
    }
    return operations;
}

}  // namespace joulecast
