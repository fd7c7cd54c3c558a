#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "joulecast/train/choose_model.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// The learners to compare under these settings. XGBoost is left out where it is compared with others and a family has
/// few rows of the metric, or the metric is memory.
std::vector<Learner> candidates(const TrainSettings& settings);

/// A family and metric of which a learner takes a sample only, since its cost grows with the square of the rows.
struct SampledPart {
    Learner learner = Learner::knn;
    Family family = Family::other;
    Metric metric = Metric::time;
    std::size_t rows = 0;
    std::size_t learned = 0;
};
/// What users should know before they wait for, or believe, one of these learners.
std::vector<SampledPart> sampled_parts(std::span<const TrainingRow> rows, std::span<const Learner> learners);

/// The frame with the rows' laws alone: what models can be fitted on top of.
DeviceModel fit_laws_alone(const DeviceModel& frame, std::span<const TrainingRow* const> rows);

/// Laws and models of every family by one learner, on top of `frame`: device and point, and laws where they are fitted
/// already. Several models at once on the threads of the settings, to the same result. No intervals yet.
DeviceModel fit_models(const DeviceModel& frame, std::span<const TrainingRow* const> rows, Learner learner,
                       const TrainSettings& settings);

/// The same with the best choice for each family, and intervals from its held-out scores.
DeviceModel fit_chosen_models(const DeviceModel& frame, std::span<const TrainingRow* const> rows,
                              const CandidateScores& scores, const TrainSettings& settings);

/// One model of rows of one family that all have the metric, on a device that has its laws; no intervals. Absent where
/// the rows are too few for a model.
std::optional<FamilyModel> fit_family_model(const DeviceModel& with_laws, std::span<const TrainingRow* const> rows,
                                            Metric metric, Learner learner, const TrainSettings& settings);

/// log(metric) of a row as models learn it (peak memory raised by memory_offset_bytes); absent where it was not
/// measured.
std::optional<double> learned_log(const TrainingRow& row, Metric metric);

/// Of each column, the finite values.
std::vector<TrainedRange> ranges_of(const Samples& samples);

}  // namespace joulecast
