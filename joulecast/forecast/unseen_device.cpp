#include "joulecast/forecast/unseen_device.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/forecast/float32_math.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/matrix_rate.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr double memory_half_width = 0.3;
/// Launches of a call whose backward pass is part of it: forward, and gradients of the input and of the weight.
constexpr double launches_in_training = 3;

/// As family_law_key() writes it.
std::string key_of(std::string_view family, std::string_view mode, std::string_view type) {
    return std::string(family) + "|" + std::string(mode) + "|" + std::string(type);
}

/// The law under the first of those keys that there is.
const TrainedLaw* first_law(const std::map<std::string, TrainedLaw>& laws, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        if (const auto found = laws.find(key); found != laws.end()) return &found->second;
    }
    return nullptr;
}

constexpr std::array<const char*, 4> types{"f32", "f16", "bf16", "f8e4m3fn"};

/// Types in the order in which they stand in for one: of the same width first.
std::vector<std::string> types_near(const std::string& type) {
    if (type == "f16") return {"f16", "bf16", "f32"};
    if (type == "bf16") return {"bf16", "f16", "f32"};
    if (type == "f32") return {"f32", "f16", "bf16"};
    return {type, "bf16", "f16", "f32"};
}

/// Families and types that nobody measured take the law of the nearest type, and families without any that of
/// element-wise operations, since what they do is move bytes.
void stand_in(const PooledModel& pooled, std::map<std::string, TrainedLaw>& laws,
              std::map<std::string, std::vector<std::string>>& knowing) {
    for (int i = 0; i <= static_cast<int>(Family::other); ++i) {
        const auto family = static_cast<Family>(i);
        if (costs_nothing(family)) continue;
        const bool has_model = std::any_of(pooled.experts.begin(), pooled.experts.end(),
                                           [family](const Expert& e) { return e.model.family == family; });
        for (const char* type : types) {
            const std::string own = key_of(name(family), "inference", type);
            std::vector<std::string> keys;
            for (const std::string& near : types_near(type)) keys.push_back(key_of(name(family), "inference", near));
            for (const std::string& near : types_near(type))
                keys.push_back(key_of(name(Family::elementwise), "inference", near));
            const TrainedLaw* found = first_law(laws, keys);
            if (!found) continue;
            const Law law = found->law;
            const auto known = knowing.find(found->key);
            if (known != knowing.end()) knowing.try_emplace(own, std::vector<std::string>(known->second));
            laws.try_emplace(own, TrainedLaw{own, law, 0});
            if (has_model) continue;  // its backward passes follow from the model of the forward ones
            Law both = law;
            both.floor_s *= launches_in_training;
            const std::string training = key_of(name(family), "training", type);
            laws.try_emplace(training, TrainedLaw{training, both, 0});
        }
    }
}

/// Devices without a sheet carry a chip that is not known.
std::vector<std::string> with_chip_of(const Device& device, const std::vector<std::string>& others) {
    std::vector<std::string> found;
    for (const std::string& other : others) {
        const DataSheet* sheet = known_devices().find(other);
        if (sheet != nullptr && same_chip(sheet->device, device)) found.push_back(other);
    }
    return found;
}

void check_sheet(const PooledModel& pooled, const Device& device) {
    if (device.kind != pooled.kind)
        throw Error("device " + device.id + " is of another kind than those the model over devices was trained on.");
    if (!has_needed_figures(device))
        throw Error("the data sheet of " + device.id +
                    " lacks what forecasts need: peak_flop_per_s_fp32, bandwidth_bytes_per_s and units. Write them "
                    "into a file of your own: docs/devices.md.");
}

}  // namespace

bool has_needed_figures(const Device& device) {
    return device.peak_flop_per_s_fp32 > 0 && device.bandwidth_bytes_per_s > 0 && device.units > 0;
}

double deviation_of_networks(const ResidualProcess& residual, const ResidualProcess::Belief& belief) {
    return std::hypot(residual.common_half_width_90(belief) / normal_90, network_deviation);
}

double middle_effect(std::span<const DeviceEffect> effects, const Device& device) {
    std::vector<double> log_factors;
    for (const DeviceEffect& effect : effects) {
        if (effect.device == device.id) return effect.log_factor;
        log_factors.push_back(effect.log_factor);
    }
    return median(log_factors);
}

DeviceModel instantiate(PooledModel pooled, const Device& device) {
    check_sheet(pooled, device);
    DeviceModel model;
    model.device = sustained(device, pooled.sustained);
    model.point = pooled.point;
    model.point.device = device.id;
    model.point.host = Host::python;  // whom call_overhead_s is of
    // Times are relative to the sheet's rates, which hold at a clock that graphics cards pass when they are cool.
    if (device.boost_clock_mhz < highest_clock_mhz(device)) model.point.sm_clock_mhz = device.boost_clock_mhz;
    model.unseen = Unseen{ResidualProcess(pooled.prior),
                          pooled.devices,
                          nullptr,
                          pooled.combination,
                          std::move(pooled.combinations),
                          {},
                          pooled.hidden_launch_s,
                          pooled.issue_pace,
                          with_chip_of(device, pooled.devices),
                          {}};
    std::ranges::copy_if(model.unseen->same_chip, std::back_inserter(model.unseen->same_whole_chip),
                         [&](const std::string& other) { return find_device(other).units == device.units; });
    auto& knowing = model.unseen->knowing;
    std::map<std::string, TrainedLaw> laws;
    for (const PooledLaw& law : pooled.laws) {
        if (law.effects.empty()) continue;
        for (const DeviceEffect& effect : law.effects) knowing[law.key].push_back(effect.device);
        const double factor = std::exp(middle_effect(law.effects, device));
        laws.emplace(law.key, TrainedLaw{law.key, {law.launch_s, factor, factor}, law.rows});
    }
    stand_in(pooled, laws, knowing);
    model.unseen->experts = std::make_shared<const std::vector<Expert>>(std::move(pooled.experts));
    for (auto& [key, law] : laws) model.laws.push_back(std::move(law));
    model.call_overhead_s = pooled.call_overhead_s;
    model.memory_half_width = memory_half_width;
    model.power.idle_w = device.idle_w;
    model.power.cap_w = device.tdp_w;
    // Products decide the time of most networks.
    ResidualPlace product;
    product.family = Family::matmul;
    model.sigma_network = deviation_of_networks(model.unseen->residual, model.unseen->residual.at(product));
    return model;
}

std::vector<DeviceModel> instantiate_all(std::vector<PooledModel> pooled, const Device& device) {
    std::vector<DeviceModel> models;
    for (PooledModel& over_others : pooled) {
        if (over_others.kind == device.kind) models.push_back(instantiate(std::move(over_others), device));
    }
    std::ranges::move(other_math(models), std::back_inserter(models));
    return models;
}

}  // namespace joulecast
