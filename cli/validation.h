#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/start_option.h"
#include "cli/verb.h"
#include "joulecast/evaluate/cross_validate.h"

namespace joulecast::cli {

/// What `validate` is asked, of joulecast and of joulecast-lab.
struct ValidationOptions {
    std::string database;
    std::string predictor;
    std::string pace_of;  ///< database whose pace times are put to
    std::vector<std::string> devices;
    std::string split = "operation";
    std::size_t folds = 5;
    const CLI::Option* folds_given = nullptr;
    std::size_t probes = 0;  ///< operations measured on a device left out
    StartOption start;
    std::string predictions;
    Output output;
    /// The laboratory's: learners to compare, methods beside ours, outliers left out. --split device takes the last of
    /// the learners, --split clock none of this.
    ValidationSettings settings;
};

/// Adds all of these but what the settings hold.
void declare(CLI::App& command, ValidationOptions& options);

/// Scores and prints; the exit status. Throws UsageError for options that contradict each other, Error for a database
/// that the split cannot be made of.
int validate(ValidationOptions& options);

}  // namespace joulecast::cli
