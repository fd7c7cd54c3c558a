#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/learn/forest.h"
#include "joulecast/predict/train.h"

namespace joulecast {

/// Published ways to forecast an operation's time, each fitted to the training rows of a fold.
enum class Baseline {
    roofline,       ///< max(FLOPs / peak, bytes / bandwidth) of the data sheet; nothing fitted
    paleo,          ///< Qi et al. 2017: arithmetic at a fitted share of peak, plus memory time
    thesis_forest,  ///< Nicolai 2025: random forest on raw seconds from the layer's attributes, one per mode
};

std::string_view name(Baseline baseline);
std::vector<Baseline> all_baselines();

class FittedBaseline {
  public:
    FittedBaseline(Baseline baseline, std::span<const TrainingRow* const> rows, std::uint64_t seed);
    /// Seconds; NaN where the baseline has nothing to go by.
    double predict(const PreparedOperation& operation) const;

  private:
    void fit_paleo(std::span<const TrainingRow* const> rows);
    void fit_thesis(std::span<const TrainingRow* const> rows, std::uint64_t seed);

    Baseline baseline_;
    double share_of_peak_ = 1;
    std::vector<std::string> targets_;
    std::optional<Forest> inference_;
    std::optional<Forest> training_;
};

}  // namespace joulecast
