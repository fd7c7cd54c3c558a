#include "joulecast/train/fit_hosts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "joulecast/physics/nelder_mead.h"
#include "joulecast/train/by_model.h"

namespace joulecast {
namespace {

/// Noise that samples share: from two measurements of one network on a quiet machine to a machine that is none.
constexpr double least_noise = 0.01;
constexpr double most_noise = 0.5;

/// Errors beyond this many standard deviations are something else's doing.
constexpr double tamed_beyond = 2;

/// Standard deviations in log: of a measurement, and of networks' seconds per call about the fitted ones.
struct Spread {
    double noise = 0.02;
    double between = 0;
};

/// The samples of one host and mode, what to begin with, and how far they scatter.
struct Fit {
    std::vector<HostSample> samples;
    const DeviceModel* device = nullptr;
    HostExtra start;
    Spread spread;

    /// `log_ratio`: of the seconds to the default's.
    double seconds(double log_ratio) const { return start.seconds_per_call * std::exp(log_ratio); }
    double error(const HostSample& s, double seconds) const {
        return std::log(s.measured_s / composed_seconds(with_extra(s.parts, seconds, *device), NetworkCorrection{}));
    }
    double share(const HostSample& s, double seconds) const {
        return share_of_added(with_extra(s.parts, seconds, *device), NetworkCorrection{});
    }
    double sigma(const HostSample& s) const {
        return std::hypot(s.sigma, spread.noise, share(s, start.seconds_per_call) * spread.between);
    }
    double misfit(double log_ratio) const {
        const auto of_sample = [&](const HostSample& s) {
            return tamed_square(error(s, seconds(log_ratio)) / sigma(s), tamed_beyond);
        };
        return log_ratio * log_ratio / (start.sigma * start.sigma) +
               sum_of_model_means(std::span<const HostSample>(samples), of_sample);
    }
    double best() const {
        const auto value = [this](std::span<const double> logs) { return misfit(logs[0]); };
        return nelder_mead(value, nelder_mead(value, {0}, 0.5, 100), 0.1, 100)[0];
    }
    /// Of the fitted logarithm: half of the misfit is minus a log likelihood, whose curvature is 1 / variance.
    double deviation(double at) const {
        constexpr double step = 0.05;
        const double curvature = (misfit(at + step) - 2 * misfit(at) + misfit(at - step)) / (step * step) / 2;
        return curvature > 0 ? std::min(start.sigma, 1 / std::sqrt(curvature)) : start.sigma;
    }
};

std::map<std::string, double> samples_of_models(const Fit& fit) {
    std::map<std::string, double> counts;
    for (const HostSample& s : fit.samples) counts[s.model] += 1;
    return counts;
}

/// An error of a network whose model the fit did not see.
struct LeftOut {
    double error = 0;
    double sigma = 0;      ///< of the measurement by itself
    double share = 0;      ///< d log(time) / d log(seconds per call)
    double deviation = 0;  ///< of the fit without the model
    double weight = 1;     ///< of a sample: those of a model have one together
};

std::vector<LeftOut> left_out(const Fit& fit) {
    std::vector<LeftOut> errors;
    for (const auto& [model, count] : samples_of_models(fit)) {
        Fit others = fit;
        const std::string& left = model;
        std::erase_if(others.samples, [&left](const HostSample& s) { return s.model == left; });
        const double best = others.best();
        const double seconds = others.seconds(best);
        const double deviation = others.deviation(best);
        for (const HostSample& s : fit.samples) {
            if (s.model != model) continue;
            errors.push_back({fit.error(s, seconds), s.sigma, fit.share(s, seconds), deviation, 1 / count});
        }
    }
    return errors;
}

double log_likelihood(const std::vector<LeftOut>& errors, const Spread& spread) {
    constexpr double freedom = 4;
    double sum = 0;
    for (const LeftOut& e : errors) {
        const double of_call = e.share * std::hypot(spread.between, e.deviation);
        const double variance = std::pow(std::hypot(e.sigma, spread.noise, of_call), 2);
        const double tail = std::log1p(e.error * e.error / (freedom * variance));
        sum -= e.weight * (std::log(variance) + (freedom + 1) * tail) / 2;
    }
    return sum;
}

/// The mean over all spreads by how likely they make the errors; `prior` is the standard deviation of `between` about
/// zero before any.
Spread likely_spread(const std::vector<LeftOut>& errors, double prior) {
    constexpr int steps = 30;
    std::vector<std::pair<double, Spread>> tried;
    for (int i = 0; i <= steps; ++i) {
        for (int j = 0; j <= steps; ++j) {
            const double noise = least_noise * std::pow(most_noise / least_noise, static_cast<double>(i) / steps);
            const Spread spread{noise, 3 * prior * j / steps};
            const double before = -std::pow(spread.between / prior, 2) / 2;
            tried.emplace_back(before + log_likelihood(errors, spread), spread);
        }
    }
    const auto most =
        std::max_element(tried.begin(), tried.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    double weights = 0;
    Spread mean{0, 0};
    for (const auto& [log_weight, spread] : tried) {
        const double weight = std::exp(log_weight - most->first);
        weights += weight;
        mean.noise += weight * spread.noise;
        mean.between += weight * spread.between;
    }
    return {mean.noise / weights, mean.between / weights};
}

}  // namespace

HostExtra fit_host_extra(std::span<const HostSample> samples, const DeviceModel& device) {
    Fit fit;
    fit.samples.assign(samples.begin(), samples.end());
    fit.device = &device;
    fit.start = default_extra(device, samples.front().host, samples.front().mode);
    fit.spread = likely_spread(left_out(fit), fit.start.sigma);
    const double best = fit.best();
    HostExtra extra = fit.start;
    extra.seconds_per_call = fit.seconds(best);
    extra.sigma = std::hypot(fit.deviation(best), fit.spread.between);
    extra.networks = static_cast<std::int64_t>(samples_of_models(fit).size());
    return extra;
}

std::vector<HostExtra> fit_hosts(std::span<const HostSample> samples, const DeviceModel& device) {
    std::map<std::pair<Host, Mode>, std::vector<HostSample>> apart;
    for (const HostSample& s : samples) apart[{s.host, s.mode}].push_back(s);
    std::vector<HostExtra> extras;
    for (const auto& [which, some] : apart) {
        const bool has_one = which.first == Host::python || which.first == Host::cpp;
        if (has_one && which.first != device.point.host) extras.push_back(fit_host_extra(some, device));
    }
    return extras;
}

}  // namespace joulecast
