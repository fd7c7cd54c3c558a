#pragma once

#include <string>
#include <vector>

#include "cli/setting_options.h"

namespace joulecast::cli {

/// What `export --lut` is asked for.
struct LookupTable {
    std::vector<std::string> models;
    std::vector<std::string> devices;
    SettingOptions settings;
    std::string predictor;
    std::string database;
};

/// The cost of every different operation of the networks, once for each device, precision and host, with where the
/// numbers come from: docs/guide/export.md. `format` is csv or json. Tells the user what the forecasts rest on. Throws
/// what loading and forecasting throw.
std::string lookup_table_text(const LookupTable& wanted, const std::string& format);

}  // namespace joulecast::cli
