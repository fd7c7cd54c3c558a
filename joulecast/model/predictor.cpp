#include "joulecast/model/predictor.h"

#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/model/law_of_any.h"

namespace joulecast {
const TrainedLaw* law_named(const DeviceModel& device, std::string_view key) {
    const auto found = std::ranges::lower_bound(device.laws, key, {}, &TrainedLaw::key);
    return found != device.laws.end() && found->key == key ? &*found : nullptr;
}

std::string_view name(Metric metric) {
    switch (metric) {
        case Metric::time:
            return "time_s";
        case Metric::power:
            return "power_w";
        case Metric::peak_memory:
            return "peak_memory_bytes";
    }
    return "";
}

std::optional<Metric> parse_metric(std::string_view text) {
    for (const Metric metric : all_metrics) {
        if (text == name(metric)) return metric;
    }
    return std::nullopt;
}

DeviceModel frame_of(const Device& device, const OperatingPoint& setting) {
    DeviceModel frame;
    frame.device = device;
    frame.point = setting;
    return frame;
}

namespace {

/// Whether any law is of calls of that name, in place or not: a device that was never measured has laws of families
/// alone, and to write keys takes longer than to look.
bool has_laws_of_calls(const DeviceModel& device, std::string_view target) {
    const std::string_view plain = plain_name(target);
    const auto found = std::ranges::lower_bound(device.laws, plain, {}, &TrainedLaw::key);
    return found != device.laws.end() && found->key.starts_with(plain);
}

/// Of calls of that name, in place or not.
const TrainedLaw* law_of_calls(const DeviceModel& device, const Operation& operation) {
    if (!has_laws_of_calls(device, operation.target)) return nullptr;
    const std::string key = law_key(operation);
    if (const TrainedLaw* own = law_named(device, key)) return own;
    const std::string_view behind_target = std::string_view(key).substr(operation.target.size());
    return law_named(device, sibling_target(operation.target).append(behind_target));
}

}  // namespace

const TrainedLaw* find_trained_law(const DeviceModel& device, const Operation& operation, Family its_family) {
    if (const TrainedLaw* of_calls = law_of_calls(device, operation)) return of_calls;
    const std::string of_family = family_law_key(its_family, operation);
    const TrainedLaw* family = law_named(device, of_family);
    // Of a family without rows the device is known by what else was measured on it.
    return family ? family : law_named(device, law_key_of_any(of_family));
}

const Law* find_law(const DeviceModel& device, const Operation& operation) {
    return find_law(device, operation, family(operation));
}

const Law* find_law(const DeviceModel& device, const Operation& operation, Family its_family) {
    const TrainedLaw* found = find_trained_law(device, operation, its_family);
    return found ? &found->law : nullptr;
}

const FamilyModel* find_model(const DeviceModel& device, Family family, Metric metric) {
    for (const FamilyModel& model : device.models) {
        if (model.family == family && model.metric == metric) return &model;
    }
    return nullptr;
}

const DeviceModel& device_model(const Predictor& predictor, const std::string& device) {
    std::string known;
    for (const DeviceModel& model : predictor.devices) {
        if (model.device.id == device) return model;
        if (!known.ends_with(model.device.id)) known += (known.empty() ? "" : ", ") + model.device.id;
    }
    throw Error("the predictor does not cover device " + device + ". It covers: " + known + ".");
}

const DeviceModel& device_model(const Predictor& predictor, const std::string& device, const OperatingPoint& setting) {
    for (const DeviceModel& model : predictor.devices) {
        const OperatingPoint& point = model.point;
        if (model.device.id == device && point.math == setting.math && point.host == setting.host &&
            point.engine == setting.engine && point.threads == setting.threads)
            return model;
    }
    return device_model(predictor, device);
}

std::vector<OperatingPoint> settings_of(const Predictor& predictor, const std::string& device) {
    std::vector<OperatingPoint> settings;
    for (const DeviceModel& model : predictor.devices) {
        if (model.device.id == device) settings.push_back(model.point);
    }
    return settings;
}

NetworkCorrection network_correction(const DeviceModel& device, const std::string& key) {
    for (const NetworkCorrection& correction : device.corrections) {
        if (correction.key == key) return correction;
    }
    // PyTorch's default is no precision that networks are measured at: most of its calls are fp32's.
    constexpr std::string_view of_default = "|default";
    if (key.ends_with(of_default))
        return network_correction(device, key.substr(0, key.size() - of_default.size()) + "|fp32");
    NetworkCorrection none;
    none.key = key;
    return none;
}

std::vector<const Feature*> columns(const Predictor& predictor) {
    std::vector<const Feature*> found;
    for (const std::string& feature : predictor.features) {
        const Feature* known = find_feature(feature);
        if (!known) {
            throw FormatError("the predictor uses feature \"" + feature +
                              "\", which this joulecast does not know. Use a newer joulecast, or train again.");
        }
        found.push_back(known);
    }
    return found;
}

}  // namespace joulecast
