#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"

namespace joulecast {

struct AugmentationSettings {
    std::size_t folds = 5;
    Learner learner = Learner::extra_trees;
    std::uint64_t seed = 1;
    unsigned threads = 0;
    Progress progress;
};

/// One layer type and metric by one way of training.
struct AugmentationScore {
    bool with_features = false;  ///< the four of section 7.2 beside the hyper-parameters
    bool with_variants = false;  ///< all rows are trained on, those too that no measured network calls (section 4.1)
    double training_rows = 0;    ///< of that layer type and mode, mean over folds
    Accuracy accuracy;           ///< `family` is the layer type (layer_kind()), or all_layers
};

/// What Sponner et al. 2022 augment: features (section 7.2: sizes of input, weight and output, number of operations)
/// and samples (section 4.1: variants of layers). One model of the learner for each device, layer type, mode and
/// computing type, on raw values, with and without either, over the same grouped folds. `of_networks` tells the rows
/// whose group a measured network calls; they alone are tested. Without others every row is of a network, and there are
/// lines of all rows alone. Layer types of fewer than three rows in training have no forecast. Throws Error where no
/// fold has rows on both sides.
std::vector<AugmentationScore> study_augmentation(const Device& device, const OperatingPoint& setting,
                                                  std::span<const TrainingRow> rows,
                                                  const std::vector<bool>& of_networks,
                                                  const AugmentationSettings& settings);

}  // namespace joulecast
