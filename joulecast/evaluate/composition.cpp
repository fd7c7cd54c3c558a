#include "joulecast/evaluate/composition.h"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/forecast_calls.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/train/fit_over_clocks.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Below this share of measured time a composition says nothing about composing measured operations.
constexpr double least_measured_share = 0.9;

struct Told {
    ComposedCalls calls;
    double measured_share = 0;
};

Told composed_calls(const DeviceModel& device, std::span<const Feature* const> columns, const TrainingNetwork& network,
                    const MeasuredOperations& measured) {
    const NetworkMeasurement& m = network.measurement;
    const IssueOrder order = issue_order(network.graph, measured_training(network.graph, m), device.device.kind);
    ForecastCache at_highest(device, columns, measured);
    ForecastCache& known = at_highest.at(clocks_of(m));
    const auto operations = forecast_calls(order, known);
    Told told;
    double of_measured = 0;
    for (const OperationForecast& operation : operations) {
        const double time = operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        told.calls.calls_s += time;
        if (operation.part != StepPart::forward) continue;
        told.calls.sum_s += time;
        told.calls.sum_j += operation.energy.value.value() * static_cast<double>(operation.count);
        if (operation.evidence == Evidence::measured) of_measured += time;
    }
    told.calls.parts = issued_from(m.real.host, m.mode, device, parts_of(operations, order));
    told.measured_share = told.calls.sum_s > 0 ? of_measured / told.calls.sum_s : 0;
    return told;
}

NetworkParts parts_for(ComposedBy composition, const ComposedCalls& calls) {
    NetworkParts parts = calls.parts;
    if (composition != ComposedBy::timeline) parts.steps.clear();
    if (composition == ComposedBy::scaled_sum) {
        parts.host_s = parts.added_host_s = 0;
        parts.device_s = calls.calls_s;
    }
    return parts;
}

const ComposedCalls* calls_of(const CompositionSample& sample, bool measured) {
    if (!measured) return &sample.forecast;
    return sample.measured ? &*sample.measured : nullptr;
}

/// To the samples that are not left out together with this one.
NetworkCorrection correction_for(const CompositionSample& left_out, std::span<const CompositionSample> samples,
                                 ComposedBy composition, bool measured) {
    std::vector<NetworkSample> others;
    for (const CompositionSample& sample : samples) {
        const ComposedCalls* calls = calls_of(sample, measured);
        const bool is_alike = sample.pool == left_out.pool && sample.network.key == left_out.network.key;
        if (!calls || !is_alike || sample.left_out == left_out.left_out) continue;
        others.push_back(sample.network);
        others.back().parts = parts_for(composition, *calls);
        others.back().model = sample.device + " " + sample.network.model;
    }
    return fit_correction(others, left_out.power);
}

struct Composed {
    double time_s = 0;
    double energy_j = 0;
};

Composed compose_by(ComposedBy composition, const ComposedCalls& calls, const NetworkCorrection& correction,
                    const PowerFacts& power) {
    if (composition == ComposedBy::sum) return {calls.sum_s, calls.sum_j};
    const NetworkParts parts = parts_for(composition, calls);
    const double time = composed_seconds(parts, correction);
    return {time, composed_joules(parts, correction, power, time)};
}

/// Errors of one way, collected.
struct Errors {
    std::vector<double> time, log_time, energy;
    std::int64_t without_order = 0;
};

CompositionAccuracy accuracy(CompositionAccuracy row, const Errors& errors) {
    row.networks = static_cast<std::int64_t>(errors.time.size());
    row.without_order = errors.without_order;
    row.time_mape = mean(errors.time);
    row.time_median_ape = median(errors.time);
    row.time_bias = std::exp(mean(errors.log_time)) - 1;
    if (!errors.energy.empty()) row.energy_mape = mean(errors.energy);
    return row;
}

using GroupKey = std::tuple<std::string, std::string, std::string, std::string>;  // device, mode, precision, host

GroupKey group_of(const CompositionSample& sample) {
    return {sample.device, std::string(name(sample.network.mode)), sample.precision,
            std::string(name(sample.network.host))};
}

}  // namespace

std::string_view name(ComposedBy composition) {
    switch (composition) {
        case ComposedBy::timeline:
            return "timeline";
        case ComposedBy::aggregate:
            return "aggregate";
        case ComposedBy::scaled_sum:
            return "scaled_sum";
        case ComposedBy::sum:
            return "sum";
    }
    return "";
}

CompositionSample composition_sample(const DeviceModel& device, std::span<const Feature* const> columns,
                                     const TrainingNetwork& network, const MeasuredOperations& measured) {
    const NetworkMeasurement& m = network.measurement;
    CompositionSample sample;
    sample.device = sample.pool = device.device.id;
    sample.left_out = m.model;
    sample.precision = m.precision;
    sample.power = power_facts_of(device);
    sample.network.model = m.model;
    sample.network.key = correction_key(m.mode, m.precision);
    sample.network.measured_s = m.time.median_s;
    sample.network.measured_j = measured_joules(m);
    sample.network.mode = m.mode;
    sample.network.host = m.real.host;
    sample.forecast = composed_calls(device, columns, network, {}).calls;
    Told told = composed_calls(device, columns, network, measured);
    if (told.measured_share >= least_measured_share) sample.measured = std::move(told.calls);
    return sample;
}

std::vector<CompositionAccuracy> compare_compositions(std::span<const CompositionSample> samples) {
    std::map<GroupKey, std::vector<const CompositionSample*>> groups;
    for (const CompositionSample& sample : samples) groups[group_of(sample)].push_back(&sample);
    std::vector<CompositionAccuracy> rows;
    for (const auto& [key, group] : groups) {
        for (const bool measured : {true, false}) {
            for (const ComposedBy composition : all_compositions) {
                Errors errors;
                for (const CompositionSample* sample : group) {
                    const ComposedCalls* calls = calls_of(*sample, measured);
                    if (!calls) continue;
                    NetworkCorrection correction;
                    if (composition != ComposedBy::sum)
                        correction = correction_for(*sample, samples, composition, measured);
                    const Composed composed = compose_by(composition, *calls, correction, sample->power);
                    const double ratio = composed.time_s / sample->network.measured_s;
                    errors.time.push_back(std::abs(ratio - 1));
                    errors.log_time.push_back(std::log(ratio));
                    const double energy = std::abs(composed.energy_j / sample->network.measured_j - 1);
                    if (std::isfinite(energy)) errors.energy.push_back(energy);
                    if (calls->parts.steps.empty()) ++errors.without_order;
                }
                if (errors.time.empty()) continue;
                const auto& [device, mode, precision, host] = key;
                CompositionAccuracy row;
                row.device = device;
                row.mode = mode;
                row.precision = precision;
                row.host = host;
                row.measured_operations = measured;
                row.composition = composition;
                rows.push_back(accuracy(std::move(row), errors));
            }
        }
    }
    return rows;
}

}  // namespace joulecast
