#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/evaluate/leave_clocks_out.h"

namespace joulecast::cli {

/// What a validation found, over all devices of the database.
struct Validated {
    std::string split;
    bool drops_outliers = false;
    std::size_t dropped = 0;        ///< training rows, over all parts
    std::size_t training_rows = 0;  ///< with those dropped
    std::vector<OutOfFoldRow> rows;
    std::vector<NetworkAccuracy> networks;
    std::vector<BaselineNetwork> baselines;
    std::vector<CompositionSample> compositions;
    std::vector<NetworkRatio> ratios;  ///< of networks that were measured at two clocks or more
    /// Methods of whole networks that were asked for where the split has none.
    std::vector<const NetworkBaseline*> network_methods;
    ClockValidation clocks;                                        ///< of split clock
    std::vector<ClockRegret> device_regrets;                       ///< of split device
    double pace_range = std::numeric_limits<double>::quiet_NaN();  ///< of the machine, where a predictor is scored
};

/// Tables for people; a document of schema joulecast.validation/1; one table for programs, of the networks where these
/// were left out, else of the operations.
std::string to_text(const Validated& validated);
std::string to_json(const Validated& validated);
std::string to_csv(const Validated& validated);

/// Every held-out forecast as CSV. Throws Error where the file cannot be written.
void write_predictions(const std::string& path, const std::vector<OutOfFoldRow>& rows);

}  // namespace joulecast::cli
