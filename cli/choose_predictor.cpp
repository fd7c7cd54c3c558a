#include "cli/choose_predictor.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/device_argument.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/predict/jcp.h"

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
