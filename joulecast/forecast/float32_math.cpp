#include "joulecast/forecast/float32_math.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "joulecast/graph/record.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

/// Of an operation's law or of a family's: see law_key().
bool is_of_convolutions(std::string_view key) {
    if (is_family_law_key(key)) return key.starts_with(name(Family::convolution));
    const Record* record = find_record(key.substr(0, key.find_first_of("/|")));
    return record != nullptr && record->family == Family::convolution;
}

DeviceModel with_convolutions_of(const DeviceModel& tf32, DeviceModel ieee) {
    std::erase_if(ieee.laws, [](const TrainedLaw& law) { return is_of_convolutions(law.key); });
    std::ranges::copy_if(tf32.laws, std::back_inserter(ieee.laws),
                         [](const TrainedLaw& law) { return is_of_convolutions(law.key); });
    std::ranges::sort(ieee.laws, {}, &TrainedLaw::key);
    const auto is_of_family = [](const FamilyModel& model) { return model.family == Family::convolution; };
    std::erase_if(ieee.models, is_of_family);
    std::ranges::copy_if(tf32.models, std::back_inserter(ieee.models), is_of_family);
    ieee.point.math = Math::torch_default;
    return ieee;
}

bool is_same_setting(const DeviceModel& a, const DeviceModel& b) {
    return a.device.id == b.device.id && a.point.host == b.point.host && a.point.threads == b.point.threads &&
           a.point.engine == b.point.engine;
}

}  // namespace

std::vector<DeviceModel> other_math(std::span<const DeviceModel> models) {
    std::vector<DeviceModel> others;
    const auto find = [&](const DeviceModel& like, Math math) {
        return std::ranges::find_if(
            models, [&](const DeviceModel& model) { return model.point.math == math && is_same_setting(model, like); });
    };
    for (const DeviceModel& ieee : models) {
        if (ieee.point.math != Math::ieee || ieee.published || !has_tf32(ieee.device)) continue;
        const auto tf32 = find(ieee, Math::tf32);
        const bool is_measured = tf32 != models.end();
        if (ieee.unseen && !is_measured) {
            for (const Math math : {Math::tf32, Math::torch_default}) {
                others.push_back(ieee);
                others.back().point.math = math;
            }
        } else if (is_measured && !tf32->unseen && !ieee.unseen) {
            others.push_back(with_convolutions_of(*tf32, ieee));
        }
    }
    return others;
}

}  // namespace joulecast
