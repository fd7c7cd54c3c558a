#include "joulecast/forecast/start_from_others.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "joulecast/forecast/analytic_kernel.h"
#include "joulecast/forecast/split_attention.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/graph/family.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/physics/roofline.h"

namespace joulecast {
namespace {

void add_measured(DeviceModel& model, std::span<const KeptDevice> kept) {
    for (const KeptDevice& setting : kept) {
        for (const auto& [signature, operation] : setting.operations) {
            if (multiplies_alike(parse_operation(signature), model.device, setting.point.math, model.point.math))
                model.kept.emplace(signature, operation);
        }
    }
}

}  // namespace

std::optional<ToldCall> told_call(const DeviceModel& model, std::span<const Feature* const> columns,
                                  const PreparedOperation& operation, bool is_of_device) {
    const auto forecast = forecast_log(model, columns, operation, Metric::time);
    if (forecast) {
        if (!(forecast->kernel_s > 0)) return std::nullopt;
        const double launch = is_of_device ? 0 : std::exp(forecast->log_value) - forecast->kernel_s;
        return ToldCall{forecast->kernel_s, launch, residual_place(operation, model.device)};
    }
    if (!is_told_analytically(operation)) return std::nullopt;
    const double launch = is_of_device ? 0 : std::numeric_limits<double>::infinity();
    return ToldCall{unadjusted_analytic_s(model, operation), launch, analytic_place(model, operation)};
}

void adjust_to(DeviceModel& model, std::span<const Feature* const> columns, std::span<const MeasuredCall> measured) {
    if (!model.unseen || measured.empty()) return;
    model.unseen->residual = ResidualProcess(model.unseen->residual.prior());
    std::vector<ResidualPlace> places;
    std::vector<double> errors;
    for (const MeasuredCall& call : measured) {
        const PreparedOperation operation = on(call.operation, model.device, model.point.math);
        const auto told = told_call(model, columns, operation, call.is_of_device);
        if (!told) continue;
        const double kernel = call.time_s - told->launch_s;
        // Where launching is most of it, a time says little of the kernel.
        if (kernel < told->launch_s) continue;
        if (places.size() == ResidualProcess::most_measured) break;
        places.push_back(told->place);
        errors.push_back(std::log(kernel / told->kernel_s));
    }
    if (places.empty()) return;
    model.unseen->residual.condition(places, errors);
    double variance = 0;
    for (const ResidualPlace& place : places) {
        const double deviation = model.unseen->residual.at(place).deviation;
        variance += deviation * deviation / static_cast<double>(places.size());
    }
    model.sigma_network = deviation_of_networks(model.unseen->residual, {0, std::sqrt(variance)});
}

bool multiplies_alike(const Operation& operation, const Device& device, Math a, Math b) {
    if (math_of(operation, a) == math_of(operation, b) || compute_dtype(operation) != Dtype::f32) return true;
    const Family family = joulecast::family(operation);
    if (family == Family::attention) return !runs_split_attention(operation, device);
    // What else cuDNN computes by products, recurrent layers, has no family of its own.
    return !multiplies_matrices(family) && math_of(operation, Math::torch_default) == Math::ieee;
}

bool tells_of(const DeviceModel& model, const Operation& operation, Math measured) {
    return math_of(operation, measured) == math_of(operation, model.point.math) ||
           !multiplies_matrices(family(operation));
}

std::vector<MeasuredCall> telling_calls(const DeviceModel& model, std::span<const KeptDevice> kept) {
    std::vector<MeasuredCall> calls;
    for (const KeptDevice& setting : kept) {
        for (const std::string& signature : setting.telling) {
            const auto found = setting.operations.find(signature);
            if (found == setting.operations.end()) continue;
            const Operation operation = parse_operation(signature);
            if (!tells_of(model, operation, setting.point.math)) continue;
            calls.push_back({prepare(operation, model.device, model.point.math), found->second.time.value.value(),
                             found->second.is_of_device});
        }
    }
    return calls;
}

std::vector<KeptDevice> kept_of(const Predictor& predictor, const std::string& device) {
    std::vector<KeptDevice> kept;
    std::ranges::copy_if(predictor.kept, std::back_inserter(kept),
                         [&](const KeptDevice& setting) { return setting.device.id == device; });
    return kept;
}

std::vector<DeviceModel> start_from_others(std::span<const KeptDevice> kept, std::vector<PooledModel> pooled,
                                           std::span<const Feature* const> columns) {
    std::vector<DeviceModel> models = instantiate_all(std::move(pooled), kept.front().device);
    in_parallel(models.size(), 0, [&](std::size_t i) {
        adjust_to(models[i], columns, telling_calls(models[i], kept));
        add_measured(models[i], kept);
    });
    return models;
}

}  // namespace joulecast
