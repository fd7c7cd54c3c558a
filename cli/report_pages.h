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
    bool published = false;  ///< fit the learners of the thesis, too
    std::vector<std::string> splits{"operation", "network"};
    std::size_t folds = 5;
    std::string learner = "extra_trees";
    std::vector<std::string> runs;  ///< files of forecasts, out of `models`
    std::string format;             ///< empty: as the end of `output` says; without one a table, of outliers
    std::string output;
};

/// The page of the networks asked for on the devices asked for. Throws as `joulecast predict` does.
Page report_forecasts(const ReportOptions& options);

/// The page of forecasts that were written into files. Throws FormatError for other files.
Page report_runs(const ReportOptions& options);

/// The page of a database. Progress goes to standard error.
Page report_dataset(const ReportOptions& options);

/// The outliers of a database: as a page, or as text in the format asked for.
struct OutlierReport {
    Page page;
    Table table;
};
OutlierReport report_outliers(const ReportOptions& options);

}  // namespace joulecast::cli
