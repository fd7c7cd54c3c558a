#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace joulecast {

/// What an engine does where a call of a network has this key (fusion_groups.h): whether it runs the call at all, or in
/// one kernel with the call that made its input.
struct FusionRule {
    std::string key;
    bool holds = false;
    friend bool operator==(const FusionRule&, const FusionRule&) = default;
};

/// What calls in one role take in a network over what they take alone (fused_calls.h).
struct FusionFactor {
    std::string role;
    double factor = 1;
    std::int64_t networks = 0;  ///< that have calls in it
    friend bool operator==(const FusionFactor&, const FusionFactor&) = default;
};

/// How one version of an engine fuses networks of one precision, learnt from networks whose kernels it told
/// (train/learn_fusion.h). With it a network is the sum of its groups and needs no other correction.
struct FusionModel {
    std::string precision = "fp32";
    std::string framework;              ///< "onnxruntime 1.32.0"
    std::vector<FusionRule> rules;      ///< sorted by key
    std::vector<FusionFactor> factors;  ///< sorted by role
    double sigma = 0;                   ///< systematic log error of a network's time beyond its operations' own
    std::int64_t networks = 0;          ///< it was learnt from
    friend bool operator==(const FusionModel&, const FusionModel&) = default;
};

/// What the rule of the first known key says; `otherwise` where none is known.
bool answer_of(const FusionModel& fusion, std::span<const std::string> keys, bool otherwise);

/// nullptr where no network had a call in that role.
const FusionFactor* find_factor(const FusionModel& fusion, const std::string& role);

}  // namespace joulecast
