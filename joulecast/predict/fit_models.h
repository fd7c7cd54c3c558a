#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "joulecast/predict/train.h"

namespace joulecast {

/// How well one learner did on rows that its training did not see.
struct CandidateScore {
    Learner learner = Learner::extra_trees;
    std::vector<double> absolute_log_error;
    std::vector<double> score;  ///< |log error| / (spread + 0.01)
};

/// Half widths are here still the scale of the score (spread + 0.01): the calibration that turns it into one comes
/// later.
using HeldOutByLearner = std::map<Learner, HeldOutTime>;
using CandidateScores = std::map<std::pair<Family, Metric>, std::vector<CandidateScore>>;

/// The learners to compare under these settings. XGBoost is left out where it is compared with others and a family has
/// few rows of the metric, or the metric is memory.
std::vector<Learner> candidates(const TrainSettings& settings);

/// The one with the smallest mean |log error| among those that forecast the most rows; the first of equals.
const CandidateScore& best_candidate(std::span<const CandidateScore> scores);

/// Laws and models of every family by one learner, on top of `frame` (device and point). No intervals yet.
DeviceModel fit_models(const DeviceModel& frame, std::span<const TrainingRow* const> rows, Learner learner,
                       const TrainSettings& settings);

/// The same with the best learner of each family, and intervals from its held-out scores.
DeviceModel fit_chosen_models(const DeviceModel& frame, std::span<const TrainingRow* const> rows,
                              const CandidateScores& scores, const TrainSettings& settings);

/// Forecasts the rows `outside` with a model that did not see them and adds to the scores of `learner`.
void score_rows(const DeviceModel& model, std::span<const TrainingRow> rows, std::span<const std::size_t> outside,
                Learner learner, CandidateScores& scores, std::vector<HeldOutByLearner>& log_time);

}  // namespace joulecast
