#include "cli/choose_predictor.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/device_argument.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/predict/jcp.h"
#include "joulecast/predict/pooled.h"

namespace joulecast::cli {
namespace {

std::vector<std::string> shipped_predictors() {
    std::vector<std::string> paths;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(shipped_folder("predictors"), failure)) {
        if (entry.path().extension() == ".jcp") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::optional<std::size_t> find_device(const Predictor& predictor, const std::string& id) {
    for (std::size_t i = 0; i < predictor.devices.size(); ++i) {
        if (predictor.devices[i].device.id == id) return i;
    }
    return std::nullopt;
}

std::optional<std::size_t> find_any_cpu(const Predictor& predictor) {
    for (std::size_t i = 0; i < predictor.devices.size(); ++i) {
        if (predictor.devices[i].device.kind == Device::Kind::cpu) return i;
    }
    return std::nullopt;
}

/// From its data sheet, by a model over other devices of its kind; absent where no candidate has one.
std::optional<ChosenPredictor> for_unseen(const std::string& device, std::vector<ChosenPredictor>& candidates) {
    const bool any = std::any_of(candidates.begin(), candidates.end(),
                                 [](const ChosenPredictor& c) { return !c.predictor.pooled.empty(); });
    if (!any) return std::nullopt;
    const Device sheet = device_argument(device).device;
    for (ChosenPredictor& candidate : candidates) {
        std::vector<DeviceModel> models;
        for (const PooledModel& pooled : candidate.predictor.pooled) {
            if (pooled.kind == sheet.kind) models.push_back(instantiate(pooled, sheet));
        }
        if (models.empty()) continue;
        const auto& others = models.front().unseen->trained_on;
        const std::string meant = meant_by(device, sheet);
        candidate.device = candidate.predictor.devices.size();
        candidate.note = (meant.empty() ? "" : meant + "; ") + sheet.id + " was " +
                         (std::find(others.begin(), others.end(), sheet.id) == others.end()
                              ? "never measured: these are extrapolations"
                              : "measured in part: these are forecasts") +
                         " from its data sheet by a model over " + std::to_string(others.size()) + " devices (" +
                         joined(others) + "). Operations measured on it and given with --db adjust them";
        std::move(models.begin(), models.end(), std::back_inserter(candidate.predictor.devices));
        return candidate;
    }
    return std::nullopt;
}

}  // namespace

const DeviceModel* ChosenPredictor::model_with(Math math, Host host) const {
    const DeviceModel* first = nullptr;
    for (const DeviceModel& one : predictor.devices) {
        if (one.device.id != model().device.id || one.point.math != math) continue;
        if (one.point.host == host) return &one;
        if (!first) first = &one;
    }
    return first;
}

ChosenPredictor choose_predictor(const std::string& device, const std::string& file) {
    const bool this_machine = device == "cpu";
    const std::string id = this_machine ? this_cpu().id : device;
    std::vector<ChosenPredictor> candidates;
    std::vector<std::string> covered;
    for (const std::string& path : file.empty() ? shipped_predictors() : std::vector{file}) {
        candidates.push_back({read_jcp(path), 0, path, ""});
        ChosenPredictor& candidate = candidates.back();
        // The first that covers it under that name: the others need not be read.
        if (const auto found = find_device(candidate.predictor, id)) {
            candidate.device = *found;
            return std::move(candidate);
        }
        for (const DeviceModel& model : candidate.predictor.devices) covered.push_back(model.device.id);
    }
    // Not called so in any of them: another name of a device that one of them covers?
    if (const DataSheet* sheet = this_machine ? nullptr : known_devices().find(device)) {
        for (ChosenPredictor& candidate : candidates) {
            const auto found = find_device(candidate.predictor, sheet->device.id);
            if (!found) continue;
            candidate.device = *found;
            candidate.note = meant_by(device, sheet->device);
            return candidate;
        }
    }
    if (!this_machine) {
        if (auto unseen = for_unseen(device, candidates)) return *std::move(unseen);
    }
    for (ChosenPredictor& candidate : candidates) {
        const auto found = this_machine ? find_any_cpu(candidate.predictor) : std::nullopt;
        if (!found) continue;
        candidate.device = *found;
        candidate.note = "no predictor was measured on this CPU (" + id + "); these are forecasts for " +
                         candidate.model().device.display_name +
                         ". Measure this machine with: joulecast profile --help";
        return candidate;
    }
    if (candidates.empty()) {
        throw Error(
            "no predictor is shipped with this joulecast. Train one (joulecast train --help) and name it with "
            "--predictor.");
    }
    throw Error("no predictor covers device " + device + ". Covered: " + joined(covered) +
                ". Train one from measurements (joulecast train --help) and name it with --predictor.");
}

}  // namespace joulecast::cli
