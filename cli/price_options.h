#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/device_survey.h"
#include "joulecast/recommend/objective.h"

namespace joulecast::cli {

/// Checks of options: CLI11's own tell the greatest double there is.
std::string above_zero(const std::string& text);
std::string not_negative(const std::string& text);

/// What energy, devices and CO2 cost: options that mean the same for every verb that has them. They must outlive the
/// parse.
struct PriceOptions {
    Prices prices;
    std::vector<std::string> device_prices;

    /// --electricity-price (--kwh-price), --device-price (--hours-price) and --carbon.
    void declare(CLI::App& command);
    /// Throws UsageError for what is no price, and for a device that is named twice.
    DevicePrices of_devices() const;
};

}  // namespace joulecast::cli
