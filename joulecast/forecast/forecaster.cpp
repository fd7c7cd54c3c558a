#include "joulecast/forecast/forecaster.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "joulecast/device/device_argument.h"
#include "joulecast/error.h"
#include "joulecast/forecast/device_choice.h"
#include "joulecast/forecast/float32_math.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/model/jcp.h"
#include "joulecast/units/joined.h"

namespace joulecast {

struct Forecaster::Loaded {
    Origin origin;
    DeviceModel device;
    std::string note;
    std::vector<const Feature*> columns;
    ForecasterSettings settings;
};

namespace {

/// The models of the predictor that answer for the device, one for each setting and way of multiplying; taken out of
/// the predictor, which may be large. None where its models over devices are of another kind.
std::vector<DeviceModel> models_of(Predictor& predictor, const DeviceChoice& choice) {
    if (!choice.model) return models_over_others(predictor, choice);
    std::vector<DeviceModel> models;
    for (DeviceModel& model : predictor.devices) {
        if (model.device.id == choice.device.id) models.push_back(std::move(model));
    }
    std::ranges::move(other_math(models), std::back_inserter(models));
    return models;
}

/// The one that multiplies float32 so, and what is to be known of it.
std::pair<DeviceModel, std::string> taken(Predictor& predictor, const std::string& device, Math math) {
    const JcpCover cover = cover_of(predictor);
    auto choice = choose_device(device, [&](std::size_t i) { return i == 0 ? &cover : nullptr; });
    // Throws where nobody knows it.
    if (!choice) choice.emplace().device = device_argument(device).device;
    auto models = models_of(predictor, *choice);
    if (models.empty())
        throw Error("the predictor covers no device " + device + ". It covers: " + joined(covered_ids(cover)) + ".");
    const Math wanted = math == Math::torch_default && !has_tf32(choice->device) ? Math::ieee : math;
    const auto found = std::ranges::find(models, wanted, [](const DeviceModel& model) { return model.point.math; });
    if (found == models.end())
        throw Error("the predictor learnt " + device + " with other matrix products of float32 than " +
                    std::string(name(math)) + ". Ask for those, or train on operations measured so.");
    std::string note;
    if (found->unseen) note = unseen_note(*found);
    if (choice->is_stand_in) note = stand_in_note(choice->device);
    return {std::move(*found), std::move(note)};
}

}  // namespace

Forecaster::Forecaster(const std::filesystem::path& predictor, const std::string& device, ForecasterSettings settings)
    : Forecaster(read_jcp(predictor), device, std::move(settings)) {}

Forecaster::Forecaster(Predictor predictor, const std::string& device, ForecasterSettings settings) {
    Loaded loaded;
    loaded.columns = columns(predictor);
    std::tie(loaded.device, loaded.note) = taken(predictor, device, settings.math);
    loaded.settings = std::move(settings);
    loaded.origin = std::move(predictor.origin);
    loaded_ = std::make_shared<const Loaded>(std::move(loaded));
}

Forecaster::Forecaster(std::shared_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) {}

Forecaster Forecaster::another() const {
    return Forecaster(loaded_);
}

const DeviceModel& Forecaster::device() const {
    return loaded_->device;
}

const std::string& Forecaster::note() const {
    return loaded_->note;
}

const Origin& Forecaster::origin() const {
    return loaded_->origin;
}

ForecastCache& Forecaster::calls_from(Host host) {
    auto& cache = caches_.at(static_cast<std::size_t>(host));
    if (!cache) {
        const ForecasterSettings& settings = loaded_->settings;
        cache = std::make_unique<ForecastCache>(loaded_->device, loaded_->columns, settings.measured, settings.capacity,
                                                host);
    }
    return *cache;
}

const OperationForecast& Forecaster::forecast(const Operation& operation, std::optional<Host> host) {
    return calls_from(host.value_or(device().point.host)).forecast(operation);
}

void Forecaster::forecast(std::span<const Operation> operations, std::span<OperationCost> costs,
                          std::optional<Host> host) {
    if (operations.size() != costs.size())
        throw Error("cannot write the costs of " + std::to_string(operations.size()) + " operations into " +
                    std::to_string(costs.size()) + " places.");
    ForecastCache& calls = calls_from(host.value_or(device().point.host));
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const OperationForecast& operation = calls.forecast(operations[i]);
        costs[i] = {operation.cost.device_time, operation.energy, operation.cost.peak_memory, operation.evidence};
    }
}

NetworkForecast Forecaster::forecast(const Graph& graph, const std::string& precision, std::optional<Host> host,
                                     const TrainingSetup& training) {
    return forecast_network(graph, precision, calls_from(device().point.host), host, training);
}

std::uint64_t Forecaster::asked() const {
    std::uint64_t sum = 0;
    for (const auto& cache : caches_) sum += cache ? cache->hits() + cache->misses() : 0;
    return sum;
}

std::uint64_t Forecaster::forecast_anew() const {
    std::uint64_t sum = 0;
    for (const auto& cache : caches_) sum += cache ? cache->misses() : 0;
    return sum;
}

}  // namespace joulecast
