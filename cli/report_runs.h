#pragma once

#include <string>
#include <vector>

#include "joulecast/report/chapters.h"

namespace joulecast::cli {

/// Files of forecasts as `joulecast predict --format json` writes them, and folders of such files.
struct ForecastFiles {
    std::vector<std::string> files;
    std::vector<std::string> passed_over;  ///< of folders: what is no such file, with the reason
};

/// The words of a command line that are such files or folders. A word that is neither, but one of networks, makes the
/// list empty, if all are; throws UsageError where some are and some are not.
ForecastFiles forecast_files(const std::vector<std::string>& words);

struct ReportedRuns {
    std::vector<ReportedForecast> forecasts;
    std::vector<std::string> commands;  ///< that make the same forecasts again, each once
};

/// What the files tell. Forecasts that differ in the clock alone are one, over the clock. Throws FormatError, naming
/// the file, for what is no forecast.
ReportedRuns read_runs(const std::vector<std::string>& files);

}  // namespace joulecast::cli
