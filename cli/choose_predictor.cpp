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
#include "joulecast/forecast/published/method.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/model/jcp.h"
#include "joulecast/train/pooled.h"

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

/// A predictor that may answer: what it covers, not yet read.
struct Candidate {
    std::string path;
    JcpCover cover;

    template <class Is>
    std::optional<std::size_t> first(Is is) const {
        const auto found = std::ranges::find_if(cover.devices, is);
        if (found == cover.devices.end()) return std::nullopt;
        return static_cast<std::size_t>(found - cover.devices.begin());
    }
    std::optional<std::size_t> named(const std::string& id) const {
        return first([&](const Device& device) { return device.id == id; });
    }
};

/// What a published method does otherwise than joulecast; empty for joulecast's own.
std::string method_note(const DeviceModel& model) {
    if (!model.published) return "";
    return "method " + description(model.published->method) +
           ": a network is the sum of its operations and --host changes nothing; memory is joulecast's";
}

ChosenPredictor open(const Candidate& candidate, std::size_t device, std::string note = "") {
    ChosenPredictor chosen{read_jcp(candidate.path), device, candidate.path, std::move(note)};
    if (device >= chosen.predictor.devices.size()) return chosen;  // a model over devices is to follow
    const std::string method = method_note(chosen.predictor.devices[device]);
    if (!method.empty()) chosen.note += (chosen.note.empty() ? "" : "; ") + method;
    return chosen;
}

/// From its data sheet, by a model over other devices of its kind; absent where no candidate has one.
std::optional<ChosenPredictor> for_unseen(const std::string& device, const std::vector<Candidate>& candidates,
                                          std::span<const Device> stored) {
    if (std::ranges::all_of(candidates, [](const Candidate& c) { return c.cover.pooled.empty(); })) return std::nullopt;
    const Device sheet = device_argument(device, stored).device;
    for (const Candidate& candidate : candidates) {
        if (std::ranges::find(candidate.cover.pooled, sheet.kind) == candidate.cover.pooled.end()) continue;
        ChosenPredictor chosen = open(candidate, candidate.cover.devices.size());
        // Moved: their experts are megabytes.
        for (PooledModel& pooled : std::exchange(chosen.predictor.pooled, {})) {
            if (pooled.kind == sheet.kind) chosen.predictor.devices.push_back(instantiate(std::move(pooled), sheet));
        }
        const auto& others = chosen.model().unseen->trained_on;
        const std::string meant = meant_by(device, sheet);
        const bool is_new = std::ranges::find(others, sheet.id) == others.end();
        chosen.note = (meant.empty() ? "" : meant + "; ") + sheet.id +
                      (is_new ? " was never measured" : " was measured only in part") +
                      ". Estimated from its data sheet by a model of " + std::to_string(others.size()) + " devices (" +
                      joined(others) + "). Operations measured on it narrow the intervals: give them with --db";
        return chosen;
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

ChosenPredictor choose_predictor(const std::string& device, const std::string& file, std::span<const Device> stored) {
    const bool this_machine = device == "cpu";
    const std::string id = this_machine ? this_cpu().id : device;
    std::vector<Candidate> candidates;
    std::vector<std::string> covered;
    for (const std::string& path : file.empty() ? shipped_predictors() : std::vector{file}) {
        candidates.push_back({path, jcp_cover(path)});
        const Candidate& candidate = candidates.back();
        if (const auto found = candidate.named(id)) return open(candidate, *found);
        for (const Device& known : candidate.cover.devices) covered.push_back(known.id);
    }
    // Not called so in any of them: another name of a device that one of them covers?
    if (const DataSheet* sheet = this_machine ? nullptr : known_devices().find(device)) {
        for (const Candidate& candidate : candidates) {
            if (const auto found = candidate.named(sheet->device.id))
                return open(candidate, *found, meant_by(device, sheet->device));
        }
    }
    if (!this_machine) {
        if (auto unseen = for_unseen(device, candidates, stored)) return *std::move(unseen);
    }
    for (const Candidate& candidate : candidates) {
        const auto found =
            this_machine ? candidate.first([](const Device& d) { return d.kind == Device::Kind::cpu; }) : std::nullopt;
        if (!found) continue;
        return open(candidate, *found,
                    "this CPU (" + id + ") was not measured; these are forecasts for " +
                        candidate.cover.devices[*found].display_name +
                        ". To measure this machine: joulecast profile --help");
    }
    if (candidates.empty()) {
        throw Error(
            "this joulecast comes without predictors. Train one (joulecast train --help) and give it with "
            "--predictor.");
    }
    throw Error("no predictor covers device " + device + ". Covered: " + joined(covered) +
                ". Train a predictor from measurements (joulecast train --help) and give it with --predictor.");
}

}  // namespace joulecast::cli
