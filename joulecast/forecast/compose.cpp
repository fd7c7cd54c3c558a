#include "joulecast/forecast/compose.h"

#include <algorithm>
#include <cmath>

#include "joulecast/forecast/log_interval.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// A network that keeps the device busy draws what the cap allows, less what the cap's control loop leaves.
constexpr double share_of_cap = 0.995;
constexpr double least_share_left = 0.1;  // of a timeline, whatever a quicker host saves

double timeline(double own, double added) {
    return std::max(least_share_left * own, own + added);
}

/// Of a call, what the host spends issuing it and what the device works beyond that.
struct CallSeconds {
    double host = 0;
    double device = 0;
};

CallSeconds seconds_of(const OperationForecast& operation) {
    const double call = operation.cost.device_time.value.value();
    const double issue = operation.cost.host_time.value.value();
    if (!std::isnan(operation.kernel_s)) return {issue, operation.kernel_s};
    const double host = std::min(call, issue);
    return {host, beyond_floor(call, host)};
}

/// The record alone tells: what family() says beyond it is of views and copies.
bool is_shape_arithmetic(const Operation& operation) {
    const Record* record = find_record(operation.target);
    return record != nullptr && record->family == Family::symbolic;
}

/// Where nothing is issued apart, calls add up in any order.
bool is_walked(const NetworkParts& parts, double host_s) {
    return !parts.steps.empty() && (host_s > 0 || parts.added_device_s < 0);
}

/// What a quicker host leaves of the calls that it issues, as a share. It saves of each in proportion to what that
/// takes: a view takes less than what other calls save.
double share_left(const NetworkParts& parts, double added, double factor, double IssuedStep::* seconds) {
    if (!(added < 0)) return 1;
    double issued = 0;
    for (const IssuedStep& step : parts.steps) issued += step.share_of_added > 0 ? step.*seconds : 0;
    return issued > 0 ? timeline(factor * issued, added) / (factor * issued) : 1;
}

/// The steps as corrections and another host make them.
class CorrectedSteps {
  public:
    CorrectedSteps(const NetworkParts& parts, const NetworkCorrection& correction)
        : parts_(parts),
          correction_(correction),
          host_left_(share_left(parts, parts.added_host_s, correction.host_factor, &IssuedStep::host_s)),
          device_left_(share_left(parts, parts.added_device_s, correction.factor, &IssuedStep::device_s)) {}

    TimelineStep operator()(const IssuedStep& step) const {
        const double host = part(correction_.host_factor * step.host_s, step, parts_.added_host_s, host_left_);
        const double device = part(correction_.factor * step.device_s, step, parts_.added_device_s, device_left_);
        return {parts_.pace.factor * host, device, step.synchronises};
    }

  private:
    static double part(double own, const IssuedStep& step, double added, double left) {
        if (added < 0) return step.share_of_added > 0 ? own * left : own;
        return own + step.share_of_added * added;
    }

    const NetworkParts& parts_;
    const NetworkCorrection& correction_;
    double host_left_ = 1;
    double device_left_ = 1;
};

/// d log T / d log(x) by a small step: `scale` makes x of the parts so many times as large.
template <class Scale>
double slope(const NetworkParts& parts, const NetworkCorrection& correction, double whole, Scale scale) {
    constexpr double step = 1e-3;
    NetworkParts more = parts;
    scale(more, 1 + step);
    return (composed_seconds(more, correction) / whole - 1) / step;
}

double slope_of_added(const NetworkParts& parts, const NetworkCorrection& correction, double whole) {
    return std::abs(slope(parts, correction, whole, [](NetworkParts& more, double factor) {
        more.added_host_s *= factor;
        more.added_device_s *= factor;
    }));
}

}  // namespace

double spread_90(double sigma) {
    return std::exp(normal_90 * sigma);
}

template <class Unit>
double log_sigma(const Estimate<Unit>& estimate) {
    return log_half_width(estimate) / normal_90;
}
template double log_sigma(const Estimate<Seconds>& estimate);
template double log_sigma(const Estimate<Watts>& estimate);
template double log_sigma(const Estimate<Joules>& estimate);

NetworkParts parts_of(std::span<const OperationForecast> operations) {
    NetworkParts parts;
    double time = 0;
    double time_variance = 0;
    double energy_variance = 0;
    double power_variance = 0;
    for (const OperationForecast& operation : operations) {
        const auto count = static_cast<double>(operation.count);
        const Family kind = family(operation.operation);
        if (kind != Family::symbolic) parts.calls += count;
        if (!costs_nothing(kind) && std::isnan(operation.kernel_s)) parts.untold_kernels += count;
        const double call = operation.cost.device_time.value.value();
        const CallSeconds apart = seconds_of(operation);
        parts.host_s += count * apart.host;
        parts.device_s += count * apart.device;
        time += count * call;
        const double deviation = count * call * log_sigma(operation.cost.device_time);
        time_variance += deviation * deviation;
        const double joules = count * operation.cost.dynamic_energy.value.value();
        parts.dynamic_j += joules;
        const double joules_off = joules * log_sigma(operation.cost.dynamic_energy);
        energy_variance += joules_off * joules_off;
        const double watts_off = joules * log_sigma(operation.power);
        power_variance += watts_off * watts_off;
    }
    if (time > 0) parts.sigma_time = std::sqrt(time_variance) / time;
    if (parts.dynamic_j > 0) {
        parts.sigma_energy = std::sqrt(energy_variance) / parts.dynamic_j;
        parts.sigma_power = std::sqrt(power_variance) / parts.dynamic_j;
    }
    return parts;
}

NetworkParts parts_of(std::span<const OperationForecast> operations, const IssueOrder& order) {
    NetworkParts parts = parts_of(operations);
    std::vector<CallSeconds> apart;
    std::vector<bool> is_symbolic;
    for (const OperationForecast& operation : operations) apart.push_back(seconds_of(operation));
    for (const CallKind& kind : order.kinds) is_symbolic.push_back(is_shape_arithmetic(kind.operation));
    parts.steps.reserve(order.calls.size());
    for (const IssuedCall& call : order.calls) {
        const CallKind& kind = order.kinds[call.kind];
        const bool is_backward = call.part == StepPart::backward;
        IssuedStep step;
        step.host_s = apart[call.kind].host * (is_backward ? 1 - kind.forward_issue : kind.forward_issue);
        step.device_s = apart[call.kind].device * (is_backward ? 1 - kind.forward_work : kind.forward_work);
        // Autograd issues the backward pass, whoever issues the rest.
        const bool is_issued = !is_symbolic[call.kind] && !is_backward && parts.calls > 0;
        if (is_issued) step.share_of_added = 1 / parts.calls;
        step.synchronises = kind.synchronises && !is_backward;
        parts.steps.push_back(step);
    }
    return parts;
}

void scale(NetworkParts& parts, double host_factor, double device_factor) {
    parts.host_s *= host_factor;
    parts.device_s *= device_factor;
    for (IssuedStep& step : parts.steps) {
        step.host_s *= host_factor;
        step.device_s *= device_factor;
    }
}

Composition composition_of(const NetworkParts& parts) {
    return parts.steps.empty() ? Composition::aggregate : Composition::timeline;
}

double host_seconds(const NetworkParts& parts, const NetworkCorrection& correction) {
    return parts.pace.factor * timeline(correction.host_factor * parts.host_s, parts.added_host_s);
}

double device_seconds(const NetworkParts& parts, const NetworkCorrection& correction) {
    return timeline(correction.factor * parts.device_s, parts.added_device_s);
}

double composed_seconds(const NetworkParts& parts, const NetworkCorrection& correction) {
    const double host = host_seconds(parts, correction);
    const double device = device_seconds(parts, correction);
    if (!is_walked(parts, host)) return overlapped(host, device);
    // As compose() does, without keeping when each call began.
    double issued = 0;
    double done = 0;
    const CorrectedSteps corrected(parts, correction);
    for (const IssuedStep& uncorrected : parts.steps) {
        const TimelineStep step = corrected(uncorrected);
        issued += step.host_s;
        done = std::max(issued, done) + step.device_s;
        if (step.synchronises) issued = done;
    }
    return std::max(issued, done);
}

Timeline composed_timeline(const NetworkParts& parts, const NetworkCorrection& correction) {
    std::vector<TimelineStep> steps;
    const CorrectedSteps corrected(parts, correction);
    for (const IssuedStep& step : parts.steps) steps.push_back(corrected(step));
    return compose(steps);
}

double share_of_added(const NetworkParts& parts, const NetworkCorrection& correction) {
    const double whole = composed_seconds(parts, correction);
    if (!(whole > 0)) return 0;
    if (is_walked(parts, host_seconds(parts, correction))) return slope_of_added(parts, correction, whole);
    // T^8 = H^8 + D^8, so dT/dH = (H / T)^7.
    const auto part = [&](double line, double added) { return std::pow(line / whole, 7) * added / whole; };
    return std::abs(part(host_seconds(parts, correction), parts.pace.factor * parts.added_host_s) +
                    part(device_seconds(parts, correction), parts.added_device_s));
}

double share_of_host(const NetworkParts& parts, const NetworkCorrection& correction) {
    const double whole = composed_seconds(parts, correction);
    if (!(whole > 0)) return 0;
    return slope(parts, correction, whole, [](NetworkParts& more, double factor) { more.pace.factor *= factor; });
}

double share_of_device(const NetworkParts& parts, const NetworkCorrection& correction) {
    const double whole = composed_seconds(parts, correction);
    if (!(whole > 0)) return 0;
    return slope(parts, correction, whole, [](NetworkParts& more, double factor) { scale(more, 1, factor); });
}

double unlimited_joules(const NetworkParts& parts, const NetworkCorrection& correction, const PowerFacts& power,
                        double seconds) {
    return power.idle_w * seconds + correction.energy_factor * parts.dynamic_j + parts.added_j;
}

double composed_joules(const NetworkParts& parts, const NetworkCorrection& correction, const PowerFacts& power,
                       double seconds) {
    const double idle = power.idle_w * seconds;
    const double whole = unlimited_joules(parts, correction, power, seconds);
    if (std::isnan(power.cap_w) || std::isnan(whole)) return whole;
    return std::min(whole, std::max(idle, share_of_cap * power.cap_w * seconds));
}

bool is_at_cap(double joules, const PowerFacts& power, double seconds) {
    return joules >= share_of_cap * power.cap_w * seconds;
}

}  // namespace joulecast
