#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/setting_options.h"
#include "joulecast/report/html.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

struct ReportOptions {
    std::vector<std::string> models;
    std::vector<std::string> devices;
    std::string predictor;
    std::string database;
    SettingOptions settings;
    std::string clocks;  ///< of networks; empty: all
    bool outliers = false;
    std::vector<std::string> splits{"operation", "network"};
    std::size_t folds = 5;
    std::string learner = "auto";
    std::string format;  ///< empty: html for a page, table for outliers without a file that ends in .html
    std::string output;
};

/// The page of the networks asked for on the devices asked for. Throws as `joulecast predict` does.
Page report_forecasts(const ReportOptions& options);

/// The page of a database. Progress goes to standard error.
Page report_dataset(const ReportOptions& options);

/// The outliers of a database: as a page, or as text in the format asked for.
struct OutlierReport {
    Page page;
    Table table;
};
OutlierReport report_outliers(const ReportOptions& options);

}  // namespace joulecast::cli
