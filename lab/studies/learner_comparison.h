#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"

namespace joulecast {

struct ComparisonSettings {
    std::size_t folds = 5;
    std::vector<Learner> learners;  ///< empty: all
    TrainSettings training;
    Progress progress;
};

/// One learner on one family and metric of a device.
struct LearnerScore {
    Accuracy accuracy;      ///< `model` is the learner; over held-out rows of all folds
    double training_s = 0;  ///< processor time of one training (all threads together), mean over folds
    double forecast_s = 0;  ///< likewise of one held-out forecast, features included
};

/// Every learner on every (family, metric) with rows enough, over the same grouped folds, with the settings and the
/// log-relative targets that joulecast trains with. By metric and family, the smallest MAPE first; families too small
/// for a model have no line. Processor time is the process's: nothing else may compute in it meanwhile.
std::vector<LearnerScore> compare_learners(const Device& device, const OperatingPoint& setting,
                                           std::span<const TrainingRow> rows, const ComparisonSettings& settings);

}  // namespace joulecast
