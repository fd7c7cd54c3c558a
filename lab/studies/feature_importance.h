#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"

namespace joulecast {

struct ImportanceSettings {
    std::size_t folds = 5;
    std::size_t repeats = 3;  ///< shufflings of each column of a fold
    Learner learner = Learner::extra_trees;
    TrainSettings training;
    Progress progress;
};

/// How much worse the forecasts of one family and metric become when one feature no longer says anything.
struct FeatureImportance {
    Family family = Family::other;
    Metric metric = Metric::time;
    std::string feature;
    std::int64_t rows = 0;  ///< held out, over all folds
    double error = 0;       ///< mean |log(forecast / measured)| as it is
    double increase = 0;    ///< of it, by shuffling: about the share that the forecast is further off. Negative: chance
    double increase_std = 0;  ///< standard deviation over folds and repeats
};

/// Permutation importance (Breiman 2001, section 10; Fisher, Rudin, Dominici 2019), on held-out rows only: models see
/// their folds untouched, grouped by operation, and each column is shuffled among the rows of one family in the fold
/// that was held out. The law and the roofline that forecasts are relative to stay, so what they explain is nobody's.
/// Of features that say the same each looks unimportant. By family and metric, the largest increase first; features
/// that are constant among the rows are left out.
std::vector<FeatureImportance> feature_importance(const Device& device, const OperatingPoint& setting,
                                                  std::span<const TrainingRow> rows,
                                                  const ImportanceSettings& settings);

/// What rows without which networks can be forecast as well bring: accuracy on held-out rows of networks, trained with
/// and without the others.
struct AugmentationEffect {
    bool with_others = false;
    double training_rows = 0;  ///< mean over folds
    Accuracy accuracy;         ///< of all families and modes together
};

/// `of_networks`: groups of the operations that the database's networks call; all else was measured besides
/// (augmentation, probes, other networks). Folds are over all rows, grouped; tested are those of networks alone. Empty
/// where there are no others.
std::vector<AugmentationEffect> augmentation_effect(const Device& device, const OperatingPoint& setting,
                                                    std::span<const TrainingRow> rows,
                                                    const std::vector<bool>& of_networks,
                                                    const ValidationSettings& settings);

}  // namespace joulecast
