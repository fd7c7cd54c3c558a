#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "joulecast/train/train.h"

namespace joulecast {

/// A learner, and how its parts are read.
struct ModelChoice {
    Learner learner = Learner::extra_trees;
    Reading reading;
    friend auto operator<=>(const ModelChoice&, const ModelChoice&) = default;
};

/// How well one choice did on rows that its training did not see.
struct CandidateScore {
    ModelChoice choice;
    std::vector<double> absolute_log_error;
    std::vector<double> score;  ///< |log error| / (spread + 0.01)
    /// Of time, by fold and mode: |log| of the sum of the forecasts over that of the measurements.
    std::vector<double> absolute_log_error_of_sum;
};

/// Half widths are here still the scale of the score (spread + 0.01): the calibration that turns it into one comes
/// later.
using HeldOutByChoice = std::map<ModelChoice, HeldOutTime>;
using CandidateScores = std::map<std::pair<Family, Metric>, std::vector<CandidateScore>>;

/// What errors of single operations and of sums cost together: the means of both, those of sums sqrt(10) times.
double loss(const CandidateScore& candidate);

/// The learner with the smallest mean |log error| among those that forecast the most rows, and of its readings whose
/// mean is no more than a tenth above the smallest, the one with the smallest loss: single operations choose the
/// learner, networks how it is read.
const CandidateScore& best_candidate(std::span<const CandidateScore> scores);

/// What one learner said of rows that it did not see, in every reading.
struct HeldOutScores {
    CandidateScores scores;
    std::vector<HeldOutByChoice> times;  ///< of each row that was asked for
};

/// Forecasts the rows `outside` with models of that learner that did not see them.
HeldOutScores score_rows(const DeviceModel& model, std::span<const TrainingRow> rows,
                         std::span<const std::size_t> outside, Learner learner);

/// How models of a metric by that learner can be read; the first as fit_models() leaves them.
std::vector<Reading> readings(Metric metric, Learner learner);

/// Adds one learner's scores of one fold to those of all.
void append(CandidateScores& sum, const HeldOutScores& scores);

}  // namespace joulecast
