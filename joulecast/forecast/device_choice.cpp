#include "joulecast/forecast/device_choice.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/device/device_argument.h"
#include "joulecast/forecast/start_from_others.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/units/joined.h"

namespace joulecast {
namespace {

template <class Is>
std::optional<std::size_t> first(const JcpCover& cover, Is is) {
    const auto found = std::ranges::find_if(cover.devices, is);
    if (found == cover.devices.end()) return std::nullopt;
    return static_cast<std::size_t>(found - cover.devices.begin());
}

std::optional<std::size_t> named(const JcpCover& cover, const std::string& id) {
    return first(cover, [&](const Device& device) { return device.id == id; });
}

bool is_pooled(const JcpCover& cover, Device::Kind kind) {
    return std::ranges::find(cover.pooled, kind) != cover.pooled.end();
}

std::optional<DeviceChoice> kept(const JcpCover& cover, std::size_t predictor, const std::string& id) {
    const auto found = std::ranges::find(cover.kept, id, &Device::id);
    if (found == cover.kept.end()) return std::nullopt;
    return DeviceChoice{predictor, std::nullopt, true, *found};
}

/// By a model over other devices of its kind, from its data sheet.
std::optional<DeviceChoice> for_unseen(const std::string& device, const std::vector<const JcpCover*>& covers,
                                       std::span<const Device> stored) {
    if (std::ranges::all_of(covers, [](const JcpCover* cover) { return cover->pooled.empty(); })) return std::nullopt;
    const Device sheet = device_argument(device, stored).device;
    // One that keeps operations of some device was made for that one, with a copy of the model that it starts from.
    for (const bool keeps : {false, true}) {
        for (std::size_t i = 0; i < covers.size(); ++i) {
            if (covers[i]->kept.empty() != keeps && is_pooled(*covers[i], sheet.kind))
                return DeviceChoice{i, std::nullopt, false, sheet};
        }
    }
    return std::nullopt;
}

}  // namespace

JcpCover cover_of(const Predictor& predictor) {
    JcpCover cover;
    for (const DeviceModel& model : predictor.devices) {
        cover.devices.push_back(model.device);
        cover.engines.push_back(model.point.engine);
    }
    for (const PooledModel& pooled : predictor.pooled) cover.pooled.push_back(pooled.kind);
    for (const KeptDevice& kept : predictor.kept) cover.kept.push_back(kept.device);
    return cover;
}

bool knows_with(const JcpCover& cover, std::span<const std::string> engines) {
    std::map<std::string_view, std::set<std::string_view>> measured;
    for (std::size_t i = 0; i < cover.devices.size(); ++i) measured[cover.devices[i].id].insert(cover.engines[i]);
    return std::ranges::any_of(measured, [&](const auto& device) {
        return std::ranges::all_of(engines, [&](const std::string& engine) { return device.second.contains(engine); });
    });
}

std::optional<DeviceChoice> choose_device(const std::string& device,
                                          const std::function<const JcpCover*(std::size_t)>& cover,
                                          std::span<const Device> stored) {
    const bool this_machine = device == "cpu";
    const std::string id = this_machine ? this_cpu().id : device;
    std::vector<const JcpCover*> covers;
    while (const JcpCover* next = cover(covers.size())) {
        if (const auto model = named(*next, id))
            return DeviceChoice{covers.size(), model, false, next->devices[*model]};
        if (auto choice = kept(*next, covers.size(), id)) return choice;
        covers.push_back(next);
    }
    const auto in_order = [&](auto model_of) -> std::optional<DeviceChoice> {
        for (std::size_t i = 0; i < covers.size(); ++i) {
            if (const auto model = model_of(*covers[i]))
                return DeviceChoice{i, model, false, covers[i]->devices[*model]};
        }
        return std::nullopt;
    };
    if (this_machine) {
        auto other = in_order([](const JcpCover& known) {
            return first(known, [](const Device& of_file) { return of_file.kind == Device::Kind::cpu; });
        });
        if (other) other->is_stand_in = true;
        return other;
    }
    // Not called so in any of them: another name of a device that one of them covers?
    if (const DataSheet* sheet = known_devices().find(device)) {
        if (auto found = in_order([&](const JcpCover& known) { return named(known, sheet->device.id); })) return found;
        for (std::size_t i = 0; i < covers.size(); ++i) {
            if (auto choice = kept(*covers[i], i, sheet->device.id)) return choice;
        }
    }
    return for_unseen(device, covers, stored);
}

std::vector<std::string> covered_ids(const JcpCover& cover) {
    std::vector<std::string> ids;
    for (const auto* devices : {&cover.devices, &cover.kept}) {
        for (const Device& device : *devices) ids.push_back(device.id);
    }
    return ids;
}

std::vector<DeviceModel> models_over_others(Predictor& predictor, const DeviceChoice& choice) {
    std::vector<PooledModel> pooled = std::exchange(predictor.pooled, {});
    if (!choice.is_kept) return instantiate_all(std::move(pooled), choice.device);
    return start_from_others(kept_of(predictor, choice.device.id), std::move(pooled), columns(predictor));
}

std::string unseen_note(const DeviceModel& model) {
    const auto& others = model.unseen->trained_on;
    const std::string over_others =
        " its data sheet by a model of " + std::to_string(others.size()) + " devices (" + joined(others) + ")";
    if (!model.kept.empty())
        return std::to_string(model.kept.size()) + " operations of " + model.device.id +
               " were measured; others are estimated from" + over_others + ", adjusted to " +
               std::to_string(model.unseen->residual.measured()) + " of these";
    const bool is_new = std::ranges::find(others, model.device.id) == others.end();
    return model.device.id + (is_new ? " was never measured" : " was measured only in part") + ". Estimated from" +
           over_others;
}

std::string stand_in_note(const Device& device) {
    return "this CPU (" + this_cpu().id + ") was not measured; these are forecasts for " + device.display_name +
           ". To measure this machine: joulecast profile --help";
}

}  // namespace joulecast
