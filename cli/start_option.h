#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/measured_rows.h"
#include "joulecast/model/predictor.h"

namespace joulecast::cli {

/// --start-from of the verbs that train: whose models over other devices a GPU of which few operations were measured
/// starts from.
class StartOption {
  public:
    /// Adds the option. Must outlive the parse.
    void declare(CLI::App& command);

    /// Those models, read once; null for "none" and where nothing fits: another kind of device, or rows of a published
    /// table, which such a model may have learned. Throws UsageError for a file without such models, and Error for one
    /// of other features.
    std::shared_ptr<const std::vector<PooledModel>> models_for(const MeasuredRows& rows);

    /// Of each device that starts from others what is kept of its settings: where that is better for the first of them,
    /// which has most rows, and possible for all. Says on standard error of which GPUs nothing is kept.
    std::vector<KeptDevice> kept_devices(const std::vector<MeasuredRows>& measured, const TrainSettings& settings);
    /// The models that kept_devices() start from go into the file with them.
    void add_to(Predictor& predictor) const;

  private:
    void read();

    std::string from_ = "shipped";
    std::string path_;  ///< that was read; empty: none yet
    Origin origin_;
    std::shared_ptr<const std::vector<PooledModel>> models_;
};

}  // namespace joulecast::cli
