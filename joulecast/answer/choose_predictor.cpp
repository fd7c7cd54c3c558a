#include "joulecast/answer/choose_predictor.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "joulecast/answer/shipped.h"
#include "joulecast/device/engine.h"
#include "joulecast/device/threads_text.h"
#include "joulecast/error.h"
#include "joulecast/forecast/compiled_calls.h"
#include "joulecast/forecast/device_choice.h"
#include "joulecast/forecast/float32_math.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/model/jcp.h"
#include "joulecast/units/joined.h"

namespace joulecast {
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

/// What a published method does otherwise than joulecast; empty for joulecast's own.
std::string method_note(const DeviceModel& model) {
    if (!model.published) return "";
    return "method " + description(model.published->method) +
           ": a network is the sum of its operations and --host changes nothing; memory is joulecast's";
}

void instantiate_in(ChosenPredictor& chosen, const DeviceChoice& choice) {
    chosen.device = chosen.predictor.devices.size();
    std::vector<DeviceModel> models = models_over_others(chosen.predictor, choice);
    std::ranges::move(compiled_by_rule(models), std::back_inserter(models));
    std::ranges::move(models, std::back_inserter(chosen.predictor.devices));
    chosen.note = unseen_note(chosen.model()) + ". Operations measured on it narrow the intervals: give them with --db";
    chosen.short_note = choice.is_kept ? "forecast from " + std::to_string(chosen.model().kept.size()) +
                                             " measured operations and its data sheet"
                                       : std::string("forecast from its data sheet, with wide intervals");
}

ChosenPredictor open(const DeviceChoice& choice, Predictor predictor, std::string path) {
    ChosenPredictor chosen{std::move(predictor), choice.model.value_or(0), std::move(path), "", ""};
    if (!choice.model) {
        instantiate_in(chosen, choice);
        return chosen;
    }
    for (DeviceModel& other : other_math(chosen.predictor.devices))
        chosen.predictor.devices.push_back(std::move(other));
    if (choice.is_stand_in) chosen.note = stand_in_note(choice.device);
    const std::string method = method_note(chosen.model());
    if (!method.empty()) chosen.note += (chosen.note.empty() ? "" : "; ") + method;
    return chosen;
}

[[noreturn]] void refuse(const std::string& device, const std::deque<JcpCover>& covers) {
    if (covers.empty()) {
        throw Error(
            "this joulecast comes without predictors. Train one (joulecast train --help) and give it with "
            "--predictor.");
    }
    std::vector<std::string> covered;
    std::string by_sheet;
    for (const JcpCover& cover : covers) {
        if (std::ranges::find(cover.pooled, Device::Kind::gpu) != cover.pooled.end())
            by_sheet = ", and every GPU of joulecast devices by its data sheet";
        for (std::string& id : covered_ids(cover)) {
            if (std::ranges::find(covered, id) == covered.end()) covered.push_back(std::move(id));
        }
    }
    throw Error("no predictor covers device " + device + ". Covered: " + joined(covered) + by_sheet +
                ". Train a predictor from measurements (joulecast train --help) and give it with --predictor.");
}

/// As choose_device() asks for them.
std::function<const JcpCover*(std::size_t)> in_order(const std::deque<JcpCover>& covers) {
    return [&covers](std::size_t i) { return i < covers.size() ? &covers[i] : nullptr; };
}

/// Torch alone may be answered for by another predictor.
std::string comparing_note(const DeviceModel& model, std::span<const std::string> engines) {
    return "measured with " + threads_text(model.point.threads) + "; to compare with torch ask for both: --engine " +
           OperatingPoint().engine + "," + joined({engines.begin(), engines.end()}, ",");
}

/// Among those that have a device of their own with all of these engines; absent where none is of this device.
std::optional<ChosenPredictor> measured_with(std::span<const std::string> engines, const std::string& device,
                                             const std::vector<std::string>& paths) {
    std::vector<std::string> fitting;
    std::deque<JcpCover> covers;
    for (const std::string& path : paths) {
        JcpCover cover = jcp_cover(path);
        if (!knows_with(cover, engines)) continue;
        cover.pooled.clear();
        cover.kept.clear();
        fitting.push_back(path);
        covers.push_back(std::move(cover));
    }
    const auto choice = choose_device(device, in_order(covers), {});
    if (!choice) return std::nullopt;
    ChosenPredictor chosen = open(*choice, read_jcp(fitting[choice->predictor]), fitting[choice->predictor]);
    if (std::ranges::none_of(engines, is_torch))
        chosen.note += (chosen.note.empty() ? "" : "; ") + comparing_note(chosen.model(), engines);
    return chosen;
}

}  // namespace

std::vector<std::string> ChosenPredictor::engines() const {
    std::vector<std::string> found;
    for (const DeviceModel& candidate : predictor.devices) {
        const std::string& engine = candidate.point.engine;
        if (candidate.device.id != model().device.id || std::ranges::find(found, engine) != found.end()) continue;
        found.insert(is_torch(engine) ? found.begin() : found.end(), engine);
    }
    return found;
}

const DeviceModel* ChosenPredictor::model_with(Math math, Host host, const std::string& engine) const {
    const DeviceModel* first = nullptr;
    for (const DeviceModel& candidate : predictor.devices) {
        const bool fits = candidate.point.math == math && candidate.point.engine == engine;
        if (candidate.device.id != model().device.id || !fits) continue;
        if (candidate.point.host == host) return &candidate;
        if (!first) first = &candidate;
    }
    return first;
}

std::optional<std::string> shipped_over_others(Device::Kind kind) {
    std::optional<std::string> with_kept;
    for (std::string& path : shipped_predictors()) {
        const JcpCover cover = jcp_cover(path);
        if (std::ranges::find(cover.pooled, kind) == cover.pooled.end()) continue;
        if (cover.kept.empty()) return std::move(path);
        if (!with_kept) with_kept = std::move(path);
    }
    return with_kept;
}

ChosenPredictor choose_predictor(const std::string& device, const PredictorSource& source,
                                 std::span<const Device> stored, std::span<const std::string> engines) {
    std::deque<JcpCover> covers;  // a deque: pointers into it stay valid
    if (source.at_hand) {
        covers.push_back(cover_of(*source.at_hand));
        const auto choice = choose_device(device, in_order(covers), stored);
        if (!choice) refuse(device, covers);
        return open(*choice, *source.at_hand, "");
    }
    const std::vector<std::string> paths = source.file.empty() ? shipped_predictors() : std::vector{source.file};
    if (source.file.empty() && !engines.empty())
        if (auto chosen = measured_with(engines, device, paths)) return *std::move(chosen);
    const auto cover = [&](std::size_t i) -> const JcpCover* {
        return i < paths.size() ? &covers.emplace_back(jcp_cover(paths[i])) : nullptr;
    };
    const auto choice = choose_device(device, cover, stored);
    if (!choice) refuse(device, covers);
    return open(*choice, read_jcp(paths[choice->predictor]), paths[choice->predictor]);
}

}  // namespace joulecast
