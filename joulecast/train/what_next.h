#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "joulecast/train/train.h"

namespace joulecast {

/// What measuring an operation takes, by what it took before: the median over the measured operations whose own time is
/// nearest.
class MeasuringCost {
  public:
    /// Time of a call and seconds that measuring it took, both positive. Half a second, as plans count it, without any.
    explicit MeasuringCost(std::vector<std::pair<double, double>> rows);
    /// Of the usable rows that say how long they took.
    explicit MeasuringCost(std::span<const OperationRow> rows);
    /// Of an operation that takes `time_s` a call.
    double seconds(double time_s) const;

  private:
    std::vector<std::pair<double, double>> rows_;  ///< time of a call, what measuring took; sorted
};

/// An operation that could be measured next.
struct CandidateOperation {
    PreparedOperation operation;
    double calls = 0;  ///< in all the networks that matter; 0 for one that none of them calls
};

/// One that should be.
struct NextOperation {
    std::size_t candidate = 0;
    double time_s = 0;       ///< forecast, of a call
    double uncertainty = 0;  ///< half of the forecast's 90 % interval, in log
    double share = 0;        ///< of the candidates' forecast time in the networks
    double cost_s = 0;       ///< of measuring it
    double gain = 0;  ///< share of all candidates' weighted uncertainty that goes, measured after those before it
};

struct WhatNextSettings {
    double budget_s = 600;
    /// Weight of an operation: so much of it its share of the networks' time, the rest the same for all, since what is
    /// rare here may be dear in a network that comes next.
    double share_weight = 0.5;
    std::size_t most_candidates = 4000;  ///< those with most weighted uncertainty per second are looked at further
    TrainSettings training;
};

/// What was chosen, best first, and what was not looked at.
struct WhatNext {
    std::vector<NextOperation> chosen;
    double cost_s = 0;
    double uncertainty = 0;  ///< of all candidates, weighted: half of the 90 % interval in log; gains are shares of it
    std::size_t candidates = 0;
    std::size_t not_considered = 0;  ///< beyond most_candidates
};

/// Which candidates to measure for the most accuracy per second. Extra trees are trained on the rows; what they do not
/// know of an operation is the half width of its interval. Measuring one tells of itself all, and of another as much as
/// the share of trees in which both stand in the same leaf (the kernel of a forest: Breiman 2000, Scornet 2016): so
/// what is nearly the same as one chosen before brings little. Chosen in turn is whatever takes most weighted
/// uncertainty away per second of measuring, until nothing more fits into the budget (greedy is within 1 - 1/e of the
/// best for such sums: Nemhauser, Wolsey, Fisher 1978; by cost: Leskovec et al. 2007).
WhatNext what_next(const Device& device, const OperatingPoint& setting, std::span<const TrainingRow> rows,
                   std::span<const CandidateOperation> candidates, const MeasuringCost& cost,
                   const WhatNextSettings& settings);

}  // namespace joulecast
