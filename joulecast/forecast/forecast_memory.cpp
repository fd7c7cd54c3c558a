#include "joulecast/forecast/forecast_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/product_copies.h"
#include "joulecast/forecast/split_attention.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/convolution_scratch.h"

namespace joulecast {
namespace {

/// Of such calls the rule for turned images tells all scratch memory.
bool is_turned_or_has_none(const Operation& operation, const DeviceModel& model) {
    return model.unseen && model.device.vendor == "nvidia" && recorded_family(operation) == Family::convolution;
}

/// What the kernels of a call are known to allocate beside its operands and results.
std::optional<double> scratch_bytes(const Operation& operation, const DeviceModel& model) {
    if (runs_split_attention(operation, model.device)) return split_attention_scratch_bytes(operation);
    if (const double copied = copied_bytes(operation); copied > 0) return copied;
    if (is_turned_or_has_none(operation, model)) return image_copies_bytes(prepare(operation, model), model.device);
    return convolution_scratch_bytes(operation, model.device, model.point.threads);
}

}  // namespace

Workspace workspace_of(const DeviceModel& device, std::span<const Feature* const> columns) {
    const auto known = std::make_shared<std::map<std::string, double>>();  // a network calls an operation many times
    return [&device, columns, known](const Operation& operation) {
        const auto [place, is_new] = known->try_emplace(signature(operation), 0.0);
        if (!is_new) return place->second;
        if (const auto known_scratch = scratch_bytes(operation, device)) return place->second = *known_scratch;
        const PreparedOperation prepared = prepare(operation, device);
        if (const auto log = forecast_log(device, columns, prepared, Metric::peak_memory)) {
            const double peak = std::exp(log->log_value) - memory_offset_bytes;
            place->second = std::max(0.0, peak - planned_bytes(prepared));
        }
        return place->second;
    };
}

Workspace workspace_of(ForecastCache& known) {
    const DeviceModel& model = known.device();
    const bool is_known = std::ranges::any_of(
        model.models, [](const FamilyModel& family) { return family.metric == Metric::peak_memory; });
    const bool is_published = model.published && model.device.kind == Device::Kind::cpu;
    return [&known, is_learned = is_known || is_published](const Operation& operation) {
        const DeviceModel& device = known.device();
        if (is_turned_or_has_none(operation, device)) return known.forecast(operation).turned_bytes;
        if (const auto scratch = scratch_bytes(operation, device)) return *scratch;
        if (!is_learned) return 0.0;
        const Estimate<Bytes> peak = known.forecast(operation).cost.peak_memory;
        if (!peak.known()) return 0.0;
        return std::max(0.0, peak.value.value() - planned_bytes(prepare(operation, device)));
    };
}

Workspace computed_workspace(const DeviceModel& device) {
    return [&device](const Operation& operation) { return scratch_bytes(operation, device).value_or(0); };
}

StepMemory step_memory(const TrainingSetup& training, Device::Kind kind) {
    StepMemory step;
    step.accumulation = training.accumulation;
    step.checkpointing = training.checkpointing;
    const bool foreach = kind == Device::Kind::gpu;
    switch (training.optimizer) {
        case Optimizer::none:
        case Optimizer::sgd:
            break;
        case Optimizer::momentum:
            step.state_copies = 1;
            break;
        case Optimizer::adam:
        case Optimizer::adamw:
            step.state_copies = 2;
            // sqrt(v) / correction: divided in place of a list, into a second tensor where there is one.
            step.update_copies = foreach ? 1 : 2;
            step.one_by_one = !foreach;
            break;
    }
    return step;
}

Allocation allocation_on(const Device& device) {
    constexpr double cuda_rounding_bytes = 512;
    constexpr double mebibyte = 1024 * 1024;
    if (device.kind != Device::Kind::gpu) return {};
    if (device.vendor != "nvidia") return {cuda_rounding_bytes, true};
    const bool is_large = device.architecture == "hopper" || device.architecture == "blackwell";
    return {cuda_rounding_bytes, true, (is_large ? 32 : 8.125) * mebibyte};
}

MemorySettings memory_settings(const Device& device, Host host, Workspace workspace, const TrainingSetup& training) {
    MemorySettings settings;
    settings.workspace = std::move(workspace);
    settings.step = step_memory(training, device.kind);
    settings.allocation = allocation_on(device);
    settings.python_holds = host == Host::python;
    if (device.kind == Device::Kind::cpu)
        settings.kept = kept_on_cpu;
    else
        settings.kept = [device](const Operation& operation) { return kept_by_split_attention(operation, device); };
    return settings;
}

std::optional<MemoryPlan> plan_memory(const Graph& graph, const DeviceModel& device,
                                      std::span<const Feature* const> columns, const TrainingSetup& training) {
    return plan_memory(graph,
                       memory_settings(device.device, device.point.host, workspace_of(device, columns), training));
}

}  // namespace joulecast
