#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "joulecast/forecast/training_setup.h"

namespace joulecast::cli {

/// --optimizer, --optimizer-form, --accumulate and --checkpointing, the same for every verb that forecasts training.
struct TrainingOptions {
    std::string optimizer = "none";
    std::string form;
    std::int64_t accumulate = 1;
    bool checkpointing = false;

    /// Adds the options. Must outlive the parse.
    void declare(CLI::App& command);
    /// Throws UsageError for a form without an optimizer.
    TrainingSetup setup() const;
    bool is_given() const { return optimizer != "none" || !form.empty() || accumulate != 1 || checkpointing; }
};

}  // namespace joulecast::cli
