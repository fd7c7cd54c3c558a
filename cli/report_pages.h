#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "joulecast/report/html.h"

namespace joulecast::cli {

struct ReportOptions {
    std::vector<std::string> models;
    std::vector<std::string> devices;
    std::string predictor;
    std::string database;
    std::vector<std::string> set;
    std::vector<std::string> modes{"inference"};
    std::vector<std::string> precisions{"fp32"};
    std::vector<std::string> hosts{"python"};
    bool outliers = false;
    std::vector<std::string> splits{"operation", "network"};
    std::size_t folds = 5;
    std::string learner = "auto";
    std::string format;  ///< empty: html for a page, table for outliers without a file that ends in .html
    std::string output;
};

Run declare_report(CLI::App& command);

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
