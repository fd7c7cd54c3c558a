#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"

namespace joulecast {

struct DatasetSizeSettings {
    std::size_t steps = 15;  ///< growing training sets
    std::size_t folds = 3;   ///< grouped; each in turn is what all training sets are tested on
    std::size_t seeds = 1;   ///< how often all of it is repeated with other folds and another order
    bool by_family = false;  ///< lines of each family, too
    std::vector<const Baseline*> baselines;
    TrainSettings training;
    Progress progress;
};

/// Accuracy after training on a part of what there is.
struct DatasetSize {
    std::size_t step = 0;        ///< from 1 to steps
    double share = 0;            ///< of the groups in training
    double training_rows = 0;    ///< mean over folds and seeds, of that family
    double training_groups = 0;  ///< likewise
    /// Of all modes together, over the test rows of all folds and seeds; of all families, and where asked for of each.
    Accuracy accuracy;
    double mape_std = 0;  ///< standard deviation of the MAPE over folds and seeds; NaN of a single one
};

/// Sponner et al. 2022, section 7.3: the training set is dealt into 15 equal parts at random, and the models are
/// trained anew on the first, the first two, ..., all of them, against test rows that stay the same. Here parts are of
/// whole groups, and no group is in training and test at once. Lines for time and, where it was measured, power, of
/// joulecast and of each baseline, by step. Throws Error where there are fewer groups in training than steps.
std::vector<DatasetSize> study_dataset_size(const Device& device, const OperatingPoint& setting,
                                            std::span<const TrainingRow> rows, const DatasetSizeSettings& settings);

}  // namespace joulecast
