#include "joulecast/physics/limit_curve.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace joulecast {
namespace {

constexpr double working_share_of_tdp = 0.85;
constexpr double waiting_share_of_tdp = 0.28;
constexpr double share_of_limit = 0.99;
constexpr double usual_overlap = 2;
/// Of the logarithm of a limit's ratio, that two runs under one limit differ by too.
constexpr double least_distance = 0.2;

WorkloadCurve working_curve(const LimitParameters& parameters, std::vector<KernelTime> kernels, double host,
                            const LimitedPoint& known) {
    if (kernels.empty()) kernels.push_back(of_compute_share(parameters.compute_share));
    ClockParameters clocks = parameters.clocks;
    clocks.learned = {};  // from whole programs at locked clocks; this is the working phase of one
    return {std::move(clocks), std::move(kernels), host,
            ClockedPoint{1, 1, 1, std::max(parameters.duty.working_w, known.power_w)}};
}

}  // namespace

LimitParameters default_limit_parameters(const ClockParameters& clocks, const Device& device) {
    LimitParameters parameters;
    parameters.clocks = clocks;
    parameters.duty = {working_share_of_tdp * device.tdp_w, waiting_share_of_tdp * device.tdp_w, share_of_limit,
                       usual_overlap};
    return parameters;
}

double limit_distance(double limit_w, const LimitedPoint& from) {
    return std::hypot(least_distance, std::log(limit_w / from.limit_w));
}

LimitCurve::LimitCurve(const LimitParameters& parameters, std::vector<KernelTime> kernels, double host,
                       LimitedPoint known)
    : known_(known), duty_(parameters.duty), curve_(working_curve(parameters, std::move(kernels), host, known)) {
    // A program whose mean is above what limits are said to let through shows that more comes through.
    duty_.share_of_limit = std::max(duty_.share_of_limit, known_.power_w / known_.limit_w);
    known_phase_ = working(known_.limit_w);
    waiting_w_ = std::min(duty_.waiting_w, known_.power_w);
    if (known_phase_.power_w > waiting_w_)
        working_share_ = std::min(1.0, (known_.power_w - waiting_w_) / (known_phase_.power_w - waiting_w_));
}

LimitCurve::Phase LimitCurve::working(double limit_w) const {
    const double most_w = duty_.share_of_limit * limit_w;
    const double x = curve_.within_limit(1, most_w);
    const Phase phase{curve_.time_s(x), curve_.power_w(x), x};
    // within_limit() keeps the limit to the millionth of a clock.
    if (!(phase.power_w > most_w * (1 + 1e-6))) return phase;
    return {phase.time * phase.power_w / most_w, most_w, x};
}

LimitedPoint LimitCurve::at(double limit_w) const {
    const Phase phase = working(limit_w);
    const double works = working_share_ * phase.time / known_phase_.time;
    const double exponent = duty_.overlap;
    const double time = std::pow(std::pow(works, exponent) + 1 - std::pow(working_share_, exponent), 1 / exponent);
    const double power_w = (works * phase.power_w + (time - works) * waiting_w_) / time;
    return {limit_w, known_.time_s * time, power_w, phase.x};
}

}  // namespace joulecast
