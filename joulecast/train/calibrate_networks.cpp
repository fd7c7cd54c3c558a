#include "joulecast/train/calibrate_networks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "joulecast/dataset/columns.h"
#include "joulecast/forecast/forecast_calls.h"
#include "joulecast/forecast/forecast_memory.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/over_clocks.h"
#include "joulecast/learn/conformal.h"
#include "joulecast/physics/nelder_mead.h"
#include "joulecast/train/by_model.h"
#include "joulecast/train/fit_hosts.h"
#include "joulecast/train/fit_over_clocks.h"
#include "joulecast/train/held_out_operations.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// Before a network was measured. On published GPU measurements 0.04 to 0.06 held 0.68 to 0.94 of the networks where
/// 0.90 was meant, so twice that.
constexpr double default_sigma = 0.12;
/// The same of a GPU whose operations were measured apart from their host at several clocks, for time, energy and
/// power. With it 90 to 100 % of the networks of docs/pretend.md's cards lay inside; with 0.06 all of them.
constexpr double default_sigma_over_clocks = 0.03;
/// It counts as so many measured models: five of them alone held 40 to 80 % of other networks (docs/pretend.md's
/// cards).
constexpr double models_of_default = 5;
constexpr double default_memory_half_width = 0.3;
constexpr std::size_t least_models = 3;

/// Beyond this error of log(time) or log(energy) a network is of another kind than all others: channels last, its
/// training in half of the time.
constexpr double tamed_beyond = 0.05;

constexpr double squared(double x) {
    return x * x;
}

/// How many models' worth of belief that no correction is needed: by the standard deviation of log(factor) before any
/// network was measured, against the error of a network.
constexpr double weight_of_one = squared(tamed_beyond / 0.15);
/// A loop of one call issues it slower than a network does, by how much depends on how the loop was written: by half
/// is nothing unusual.
constexpr double weight_of_one_for_host = squared(tamed_beyond / 0.7);

/// Networks of quiet machines took 0.8 to 1.25 times the sum of their operations. Of the host see
/// weight_of_one_for_host.
constexpr double least_factor = 0.8, most_factor = 1.25;
constexpr double least_host_factor = 0.4, most_host_factor = 2.5;

bool is_measured(const NetworkMeasurement& measurement) {
    return is_timed(measurement.outcome) && measurement.time.median_s > 0;
}

NetworkSample sample(const DeviceModel& device, std::span<const Feature* const> columns,
                     const MeasuredOperations& times, const TrainingNetwork& network) {
    const NetworkMeasurement& m = network.measurement;
    const IssueOrder order = issue_order(network.graph, measured_training(network.graph, m), device.device.kind);
    ForecastCache at_highest(device, columns, times);
    const ClockPlace place = place_of(device, m);
    ForecastCache& known = at_highest.at(clocks_of(m));
    const auto operations = forecast_calls(order, known);
    NetworkSample found{m.model, correction_key(m.mode, m.precision), parts_of(operations, order), m.time.median_s};
    found.measured_j = measured_joules(m);
    found.mode = m.mode;
    found.host = m.real.host;
    found.sizes = symbols_text(m.symbols);
    if (device.over_clocks) found.power = power_facts_at(device, place);
    if (m.time.half_width_s > 0) found.half_width_s = m.time.half_width_s;
    return found;
}

template <class Error>
double squared_errors(std::span<const NetworkSample> samples, Error error) {
    return sum_of_model_means(samples, [&](const NetworkSample& s) { return tamed_square(error(s), tamed_beyond); });
}

double time_error(const NetworkSample& s, const NetworkCorrection& correction) {
    return std::log(s.measured_s / composed_seconds(s.parts, correction));
}

double energy_error(const NetworkSample& s, const NetworkCorrection& correction, const PowerFacts& power) {
    const double seconds = composed_seconds(s.parts, correction);
    return std::log(s.measured_j / composed_joules(s.parts, correction, s.power ? *s.power : power, seconds));
}

std::set<std::string> models_in(std::span<const NetworkSample> samples) {
    std::set<std::string> models;
    for (const NetworkSample& s : samples) models.insert(s.model);
    return models;
}

/// exp of the models' mean log ratio, pulled to 1.
double mean_factor(std::span<const NetworkSample> samples) {
    const double sum =
        sum_of_model_means(samples, [](const NetworkSample& s) { return std::log(s.measured_s / s.parts.device_s); });
    return std::exp(sum / (static_cast<double>(models_in(samples).size()) + weight_of_one));
}

/// Errors of all samples by corrections from the other models of their key.
struct LeftOut {
    std::vector<NetworkError> time, energy, power;
    std::vector<std::string> time_models, energy_models;  ///< whose they are
};

LeftOut left_out_errors(std::span<const NetworkSample> samples, const PowerFacts& power) {
    LeftOut errors;
    for (const std::string& model : models_in(samples)) {
        std::map<std::string, std::vector<NetworkSample>> others;
        for (const NetworkSample& s : samples) {
            if (s.model != model) others[s.key].push_back(s);
        }
        std::map<std::string, NetworkCorrection> corrections;
        for (const NetworkSample& s : samples) {
            if (s.model != model) continue;
            const auto [found, is_new] = corrections.try_emplace(s.key);
            if (is_new) found->second = fit_correction(others[s.key], power);
            const double time = time_error(s, found->second);
            errors.time.push_back({time, s.parts.sigma_time});
            errors.time_models.push_back(model);
            const double energy = energy_error(s, found->second, power);
            if (std::isnan(energy)) continue;
            errors.energy.push_back({energy, s.parts.sigma_energy});
            errors.power.push_back({energy - time, s.parts.sigma_power});
            errors.energy_models.push_back(model);
        }
    }
    return errors;
}

double sigma_of(const NetworkSample& s) {
    return s.half_width_s / s.measured_s / normal_95;
}

/// Beside its parts, corrected and, where the network was measured from the host of the operations too, scaled to that:
/// then what is left is the host's doing.
HostSample host_sample(const DeviceModel& device, std::span<const NetworkSample> own, const NetworkSample& sample) {
    const NetworkCorrection correction = network_correction(device, sample.key);
    HostSample found{sample.model, sample.host, sample.mode, sample.parts, sample.measured_s, sigma_of(sample)};
    double scale = 1;
    const auto same = std::find_if(own.begin(), own.end(), [&](const NetworkSample& s) {
        return s.model == sample.model && s.key == sample.key && s.sizes == sample.sizes;
    });
    if (same == own.end()) {
        found.sigma = std::hypot(found.sigma, sample.parts.sigma_time, device.sigma_network);
    } else {
        scale = same->measured_s / composed_seconds(sample.parts, correction);
        found.sigma = std::hypot(found.sigma, sigma_of(*same));
    }
    joulecast::scale(found.parts, scale * correction.host_factor, scale * correction.factor);
    return found;
}

/// One error for each model: that which 90 % of its own are below. The clocks of a model err alike, so many of them
/// tell no more of another model than one does.
std::vector<NetworkError> of_models(std::span<const NetworkError> errors, std::span<const std::string> models) {
    std::map<std::string, std::vector<NetworkError>> by_model;
    for (std::size_t i = 0; i < errors.size(); ++i) by_model[models[i]].push_back(errors[i]);
    std::vector<NetworkError> found;
    for (auto& [model, own] : by_model) {
        std::ranges::sort(own, {}, [](const NetworkError& e) { return std::abs(e.log_error); });
        found.push_back(own[(9 * (own.size() - 1) + 5) / 10]);
    }
    return found;
}

double sigma_or_default(std::span<const NetworkError> errors, std::size_t models) {
    return models < least_models || errors.empty() ? default_sigma : systematic_sigma(errors);
}

}  // namespace

NetworkCorrection fit_correction(std::span<const NetworkSample> samples, const PowerFacts& power) {
    NetworkCorrection best;
    if (samples.empty()) return best;
    best.key = samples.front().key;
    best.networks = static_cast<std::int64_t>(models_in(samples).size());
    const bool has_host =
        std::any_of(samples.begin(), samples.end(), [](const NetworkSample& s) { return s.parts.host_s > 0; });
    if (has_host) {
        const auto misfit = [&](std::span<const double> logs) {
            NetworkCorrection tried = best;
            tried.factor = std::exp(logs[0]);
            tried.host_factor = std::exp(logs[1]);
            return squared_errors(samples, [&](const NetworkSample& s) { return time_error(s, tried); }) +
                   weight_of_one * logs[0] * logs[0] + weight_of_one_for_host * logs[1] * logs[1];
        };
        const auto logs = nelder_mead(misfit, nelder_mead(misfit, {0, 0}, 0.3, 200), 0.1, 200);
        best.factor = std::exp(logs[0]);
        best.host_factor = std::exp(logs[1]);
    } else {
        best.factor = mean_factor(samples);
    }
    const auto energy_misfit = [&](std::span<const double> logs) {
        NetworkCorrection tried = best;
        tried.energy_factor = std::exp(logs[0]);
        return squared_errors(samples, [&](const NetworkSample& s) { return energy_error(s, tried, power); }) +
               weight_of_one * logs[0] * logs[0];
    };
    best.energy_factor = std::exp(nelder_mead(energy_misfit, {0}, 0.2, 200)[0]);
    return best;
}

double systematic_sigma(std::span<const NetworkError> errors) {
    const auto covers = [&](double sigma) {
        std::vector<double> scores;
        for (const NetworkError& e : errors)
            scores.push_back(std::abs(e.log_error) / std::max(1e-12, std::hypot(e.own_sigma, sigma)));
        return conformal_quantile(std::move(scores), 0.9) <= normal_90;
    };
    double low = 0;
    double high = 3;
    if (covers(low)) return low;
    for (int step = 0; step < 40; ++step) (covers((low + high) / 2) ? high : low) = (low + high) / 2;
    return high;
}

bool plausible(const NetworkCorrection& correction) {
    const auto lies = [](double factor, double least, double most) { return factor >= least && factor <= most; };
    return lies(correction.factor, least_factor, most_factor) &&
           lies(correction.host_factor, least_host_factor, most_host_factor);
}

void calibrate_networks(DeviceModel& device, std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out,
                        std::span<const TrainingNetwork> networks, bool drifted) {
    const auto columns = all_columns();
    const auto times = held_out_operations(rows, held_out);
    std::map<std::string, std::vector<NetworkSample>> by_key;
    std::vector<NetworkSample> of_this_host;
    std::vector<NetworkSample> of_other_hosts;
    std::vector<double> memory_errors;
    for (const TrainingNetwork& network : networks) {
        if (!is_measured(network.measurement)) continue;
        NetworkSample found = sample(device, columns, times, network);
        if (found.host != device.point.host) {
            of_other_hosts.push_back(std::move(found));
            continue;
        }
        of_this_host.push_back(std::move(found));
        by_key[of_this_host.back().key].push_back(of_this_host.back());
        const auto plan = plan_memory(network.graph, device, columns);
        const double peak = network.measurement.peak_memory_bytes;
        if (plan && plan->peak_bytes > 0 && peak > 0)
            memory_errors.push_back(std::abs(std::log(peak / plan->peak_bytes)));
    }
    for (const auto& [key, samples] : by_key) {
        NetworkCorrection correction = fit_correction(samples, device.power);
        if (drifted && !plausible(correction))
            std::erase_if(of_this_host, [&key](const NetworkSample& s) { return s.key == key; });
        else
            device.corrections.push_back(std::move(correction));
    }
    const LeftOut errors = left_out_errors(of_this_host, device.power);
    const std::size_t models = models_in(of_this_host).size();
    if (device.over_clocks) {
        const auto sigma = [](const std::vector<NetworkError>& of, const std::vector<std::string>& whose,
                              double usual) {
            const auto count = static_cast<double>(std::set<std::string>(whose.begin(), whose.end()).size());
            const double own = count > 0 ? systematic_sigma(of_models(of, whose)) : 0;
            return std::sqrt((count * own * own + models_of_default * usual * usual) / (count + models_of_default));
        };
        device.sigma_network = sigma(errors.time, errors.time_models, default_sigma_over_clocks);
        device.power.sigma_energy = sigma(errors.energy, errors.energy_models, default_sigma_over_clocks);
        device.power.sigma_power = sigma(errors.power, errors.energy_models, default_sigma_over_clocks);
    } else {
        device.sigma_network = sigma_or_default(errors.time, models);
        device.power.sigma_energy = sigma_or_default(errors.energy, models);
        device.power.sigma_power = sigma_or_default(errors.power, models);
    }
    device.memory_half_width =
        memory_errors.size() < least_models ? default_memory_half_width : conformal_quantile(memory_errors, 0.9);
    device.networks = static_cast<std::int64_t>(of_this_host.size());
    std::vector<HostSample> from_hosts;
    for (const NetworkSample& sample : of_other_hosts) from_hosts.push_back(host_sample(device, of_this_host, sample));
    device.hosts = fit_hosts(from_hosts, device);
    if (drifted) {
        std::erase_if(device.hosts, [&device](const HostExtra& fitted) {
            const HostExtra usual = default_extra(device, fitted.host, fitted.mode);
            return std::abs(std::log(fitted.seconds_per_call / usual.seconds_per_call)) > usual.sigma;
        });
    }
}

}  // namespace joulecast
