#include "joulecast/evaluate/leave_device_out.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/evaluate/baseline_rows.h"
#include "joulecast/forecast/unseen_device.h"

namespace joulecast {
namespace {

using Parts = std::vector<const MeasuredDevice*>;

std::set<std::string> ids(const Parts& parts) {
    std::set<std::string> found;
    for (const MeasuredDevice* part : parts) found.insert(part->rows.device.id);
    return found;
}

/// Of one kind and math: only these can be in one model.
std::vector<Parts> alike(std::span<const MeasuredDevice> devices) {
    std::vector<Parts> groups;
    for (const MeasuredDevice& device : devices) {
        const auto fits = [&device](const Parts& group) {
            const DeviceRows& first = group.front()->rows;
            return first.device.kind == device.rows.device.kind && first.setting.math == device.rows.setting.math;
        };
        const auto found = std::find_if(groups.begin(), groups.end(), fits);
        (found == groups.end() ? groups.emplace_back() : *found).push_back(&device);
    }
    return groups;
}

/// Rows left for a device's test after `chosen` went into the model.
std::vector<TrainingRow> all_but(const std::vector<TrainingRow>& rows, const std::vector<std::size_t>& chosen) {
    std::vector<TrainingRow> rest;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) rest.push_back(rows[i]);
    }
    return rest;
}

void on_this_sheet(std::vector<TrainingRow>& rows, const DeviceModel& model) {
    for (TrainingRow& row : rows) row.operation = on(std::move(row.operation), model.device, model.point.math);
}

void append_baselines(const MeasuredDevice& test, const std::vector<TrainingRow>& rows, const Parts& others,
                      std::size_t fold, const ValidationSettings& settings, NetworkValidation& validation) {
    if (settings.baselines.empty()) return;
    std::vector<RowOnDevice> training;
    for (const MeasuredDevice* other : others) {
        for (const TrainingRow& row : other->rows.rows)
            training.push_back({&row, &other->rows.device, &other->rows.setting});
    }
    const FittedBaselines published(settings.baselines, training, settings.training.seed, settings.training.threads);
    for (const TrainingRow& row : rows) {
        published.append_forecasts({&row, &test.rows.device, &test.rows.setting}, fold, validation.operations);
    }
    for (const TrainingNetwork& network : test.networks)
        append_networks(published, network, test.rows.device, test.rows.setting, validation.baselines);
}

/// The rows to measure: those that tell most of the device's networks.
std::vector<std::size_t> probes_for(const DeviceModel& model, std::span<const Feature* const> columns,
                                    const MeasuredDevice& test, std::size_t count) {
    if (count == 0) return {};
    std::vector<const Graph*> graphs;
    for (const TrainingNetwork& network : test.networks) graphs.push_back(&network.graph);
    return telling_rows(model, columns, test.rows.rows, count, targets_of(graphs, model, columns));
}

void validate_device(const PooledModel& pooled, const MeasuredDevice& test, const Parts& others, std::size_t fold,
                     const ValidationSettings& settings, std::size_t probes, NetworkValidation& validation) {
    const auto columns = all_columns();
    DeviceModel model = instantiate(pooled, test.rows.device);
    const Host issuer = model.point.host;  // whose launches are in the model
    model.point = test.rows.setting;
    model.point.host = issuer;
    model.physical_power = shipped_physical_power_without(test.rows.device.id);
    const auto chosen = probes_for(model, columns, test, probes);
    std::vector<const TrainingRow*> measured;
    for (const std::size_t row : chosen) measured.push_back(&test.rows.rows[row]);
    adjust_to(model, columns, measured);
    auto rows = all_but(test.rows.rows, chosen);
    append_baselines(test, rows, others, fold, settings, validation);
    on_this_sheet(rows, model);
    auto scored = score_predictor(model, columns, rows);
    for (OutOfFoldRow& row : scored) row.fold = fold;
    std::move(scored.begin(), scored.end(), std::back_inserter(validation.operations));
    auto scored_networks = score_networks(model, columns, test.networks, test.measured);
    auto& networks = scored_networks.networks;
    std::move(networks.begin(), networks.end(), std::back_inserter(validation.networks));
    for (CompositionSample& sample : scored_networks.compositions) {
        sample.left_out = sample.device;
        sample.pool = "all devices";
        validation.compositions.push_back(std::move(sample));
    }
}

}  // namespace

NetworkValidation validate_devices(std::span<const MeasuredDevice> devices, const ValidationSettings& settings,
                                   std::size_t probes) {
    NetworkValidation validation;
    std::size_t fold = 0;
    const auto groups = alike(devices);
    for (const Parts& group : groups) {
        const auto left_out = ids(group);
        if (left_out.size() < 3) continue;
        for (const std::string& id : left_out) {
            Parts others;
            std::vector<const DeviceRows*> training;
            for (const MeasuredDevice* part : group) {
                if (part->rows.device.id == id) continue;
                others.push_back(part);
                training.push_back(&part->rows);
            }
            const PooledModel pooled = train_pooled(training, settings.training);
            for (const MeasuredDevice* part : group) {
                if (part->rows.device.id == id)
                    validate_device(pooled, *part, others, fold, settings, probes, validation);
            }
            ++fold;
            if (settings.progress) settings.progress(fold, left_out.size());
        }
    }
    if (fold == 0) {
        throw Error(
            "leaving devices out takes measurements of at least three devices of one kind (and one math), so that two "
            "are left to learn from.");
    }
    return validation;
}

}  // namespace joulecast
