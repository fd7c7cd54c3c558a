#include "joulecast/model/fusion_rules.h"

#include <algorithm>

namespace joulecast {

bool answer_of(const FusionModel& fusion, std::span<const std::string> keys, bool otherwise) {
    for (const std::string& key : keys) {
        const auto found = std::ranges::lower_bound(fusion.rules, key, {}, &FusionRule::key);
        if (found != fusion.rules.end() && found->key == key) return found->holds;
    }
    return otherwise;
}

const FusionFactor* find_factor(const FusionModel& fusion, const std::string& role) {
    const auto found = std::ranges::lower_bound(fusion.factors, role, {}, &FusionFactor::role);
    return found != fusion.factors.end() && found->role == role ? &*found : nullptr;
}

}  // namespace joulecast
