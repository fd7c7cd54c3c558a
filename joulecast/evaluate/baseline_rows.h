#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/accuracy.h"
#include "joulecast/evaluate/baseline.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// A training row, the device it was measured on and how.
struct RowOnDevice {
    const TrainingRow* row = nullptr;
    const Device* device = nullptr;
    const OperatingPoint* point = nullptr;
};

/// Published methods fitted to the training rows of one fold: one model per metric that the method forecasts.
class FittedBaselines {
  public:
    FittedBaselines(std::span<const Baseline* const> baselines, std::span<const RowOnDevice> training,
                    std::uint64_t seed, unsigned threads);

    /// A forecast of that metric, by the method's own way to it; NaN where it has none.
    double forecast(std::size_t baseline, BaselineMetric metric, const Subject& subject) const;
    /// Adds a row per method and measured metric; the forecast is NaN where the method has none.
    void append_forecasts(const RowOnDevice& test, std::size_t fold, std::vector<OutOfFoldRow>& out) const;

    std::span<const Baseline* const> baselines() const { return baselines_; }

  private:
    struct Models {
        std::unique_ptr<FittedBaseline> time, power, energy;
    };
    std::vector<const Baseline*> baselines_;
    std::vector<Models> models_;
};

/// A row of the device and setting that the model is of.
RowOnDevice on_device(const TrainingRow& row, const DeviceModel& model);

/// Fitted to such rows.
FittedBaselines fit_baselines(std::span<const Baseline* const> baselines, const DeviceModel& model,
                              std::span<const TrainingRow> training, const TrainSettings& settings);

/// Rows of one method and metric that it has no forecast for.
struct BaselineGap {
    std::string model;
    std::string metric;
    std::string device;
    std::int64_t rows = 0;  ///< without a forecast
    std::int64_t rows_in_all = 0;
    std::string reason;
};

/// Of the methods that say why some rows have no forecast, in order of first appearance.
std::vector<BaselineGap> baseline_gaps(std::span<const OutOfFoldRow> rows);

}  // namespace joulecast
