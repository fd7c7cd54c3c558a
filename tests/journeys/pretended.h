#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/run_command.h"

namespace joulecast::testing {

/// Options that make `profile` ask a pretended card. The seed of noise is fixed: a journey ends the same each time.
std::string on(const std::string& device, const std::string& options = "--seed 1");

/// The worker alone.
std::string asking(const std::string& options);

/// `joulecast profile ARGUMENTS`, which must measure all that it plans; its JSON.
nlohmann::json profiled(const std::string& arguments);
/// `joulecast train`, which must work; its standard error.
std::string trained(const std::string& database, const std::string& predictor);

/// Networks as forecast against networks as measured: means of |error|, and the share inside the 90 % intervals.
struct Score {
    int networks = 0;
    double time = 0, power = 0, energy = 0;
    double worst_time = 0;
    double inside = 0;
};

/// `joulecast validate` of a predictor on networks that it has not seen, those of `device` alone where one is named.
Score scored(const std::string& predictor, const std::string& truth, const std::string& device = "");
/// Printed where a bound is missed.
std::ostream& operator<<(std::ostream& out, const Score& score);

/// What is measured for training: convolutions, depth-wise and in blocks, dense layers, attention.
inline const std::string known_networks = "resnet18 mobilenet_v2 vgg11 densenet121 vit_b_32 --set batch=8 --networks";
/// What is not: their truth is the laws' own answer, without noise.
inline const std::string unseen_networks = "resnet50 efficientnet_b0 resnet34 --set batch=8 --networks --no-operations";

}  // namespace joulecast::testing
