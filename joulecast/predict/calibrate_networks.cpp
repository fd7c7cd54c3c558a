#include "joulecast/predict/calibrate_networks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "joulecast/learn/conformal.h"
#include "joulecast/predict/forecast_network.h"

namespace joulecast {
namespace {

constexpr double normal_90 = 1.645;
/// Before a network was measured. On published GPU measurements 0.04 to 0.06 held 0.68 to 0.94 of the networks where
/// 0.90 was meant, so twice that.
constexpr double default_sigma = 0.12;
constexpr double default_memory_half_width = 0.3;
constexpr std::size_t least_models = 3;
constexpr double weight_of_one = 2;  ///< models' worth of belief that no correction is needed

MeasuredOperations held_out_times(std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out) {
    MeasuredOperations times;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [log_value, half] = held_out[i];
        if (std::isnan(log_value)) continue;
        times[rows[i].operation.signature] = {Seconds(std::exp(log_value)), Seconds(std::exp(log_value - half)),
                                              Seconds(std::exp(log_value + half))};
    }
    return times;
}

bool is_measured(const NetworkMeasurement& measurement) {
    return (measurement.outcome == Outcome::ok || measurement.outcome == Outcome::unstable) &&
           measurement.time.median_s > 0;
}

NetworkResidual residual(const DeviceModel& device, std::span<const Feature* const> columns,
                         const MeasuredOperations& times, const TrainingNetwork& network) {
    const NetworkMeasurement& m = network.measurement;
    std::vector<OperationForecast> operations;
    for (const CountedOperation& counted : count_operations(network.graph)) {
        auto operation =
            forecast_operation(device, columns, prepare(counted.operation, device.device, device.point.math), times);
        operation.count = counted.count;
        operations.push_back(std::move(operation));
    }
    const auto composed = compose_time(operations, 1, 0);
    return {m.model, correction_key(m.mode, m.precision), std::log(m.time.median_s / composed.value.value()),
            std::log(composed.high.value() / composed.value.value()) / normal_90};
}

std::size_t models_in(std::span<const NetworkResidual> residuals) {
    std::set<std::string> models;
    for (const NetworkResidual& r : residuals) models.insert(r.model);
    return models.size();
}

}  // namespace

double correction_factor(std::span<const NetworkResidual> residuals) {
    std::map<std::string, std::pair<double, double>> by_model;
    for (const NetworkResidual& r : residuals) {
        by_model[r.model].first += r.log_ratio;
        by_model[r.model].second += 1;
    }
    double sum = 0;
    for (const auto& [model, total] : by_model) sum += total.first / total.second;
    return std::exp(sum / (static_cast<double>(by_model.size()) + weight_of_one));
}

double systematic_sigma(std::span<const NetworkResidual> residuals) {
    if (models_in(residuals) < least_models) return default_sigma;
    std::vector<std::pair<double, double>> errors;  // |log error|, own sigma
    for (const NetworkResidual& r : residuals) {
        std::vector<NetworkResidual> others;
        for (const NetworkResidual& other : residuals) {
            if (other.model != r.model && other.key == r.key) others.push_back(other);
        }
        errors.emplace_back(std::abs(r.log_ratio - std::log(correction_factor(others))), r.own_sigma);
    }
    const auto covers = [&](double sigma) {
        std::vector<double> scores;
        for (const auto& [error, own] : errors) scores.push_back(error / std::max(1e-12, std::hypot(own, sigma)));
        return conformal_quantile(std::move(scores), 0.9) <= normal_90;
    };
    double low = 0;
    double high = 3;
    if (covers(low)) return low;
    for (int step = 0; step < 40; ++step) (covers((low + high) / 2) ? high : low) = (low + high) / 2;
    return high;
}

void calibrate_networks(DeviceModel& device, std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out,
                        std::span<const TrainingNetwork> networks) {
    const auto columns = all_columns();
    const auto times = held_out_times(rows, held_out);
    std::map<std::string, std::vector<NetworkResidual>> by_key;
    std::vector<NetworkResidual> all;
    std::vector<double> memory_errors;
    for (const TrainingNetwork& network : networks) {
        if (!is_measured(network.measurement)) continue;
        all.push_back(residual(device, columns, times, network));
        by_key[all.back().key].push_back(all.back());
        const auto plan = plan_memory(network.graph, device, columns);
        const double peak = network.measurement.peak_memory_bytes;
        if (plan && plan->peak_bytes > 0 && peak > 0)
            memory_errors.push_back(std::abs(std::log(peak / plan->peak_bytes)));
    }
    for (const auto& [key, residuals] : by_key) {
        device.corrections.push_back(
            {key, correction_factor(residuals), static_cast<std::int64_t>(models_in(residuals))});
    }
    device.sigma_network = systematic_sigma(all);
    device.memory_half_width =
        memory_errors.size() < least_models ? default_memory_half_width : conformal_quantile(memory_errors, 0.9);
    device.networks = static_cast<std::int64_t>(all.size());
}

}  // namespace joulecast
