#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/measured_rows.h"
#include "cli/verb.h"
#include "joulecast/measure/proportionality.h"
#include "joulecast/report/plot.h"
#include "joulecast/report/table.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast::cli {

struct StudyOptions {
    std::string study;
    std::string operation =
        "aten::conv2d(input=f32[1,64,56,56], weight=f32[64,64,3,3], padding=[1,1])";  ///< of ResNet-18
    std::string device = "cpu";
    std::string worker;
    int threads = 0;
    std::string longest = "1s";
    std::size_t points = 70;
    std::string meter = "auto";
    std::size_t runs = 5;
    std::string run = "3s";
    std::string rest = "3s";
    std::string power_log;
    // Those of a database.
    std::string database;
    std::vector<std::string> devices;  ///< of it; none: all
    std::string predictor;
    std::optional<std::size_t> folds, seeds, repeats;
    std::size_t steps = 15;
    std::vector<std::string> learners;
    std::string by = "all";              ///< dataset-size: all families together, or each too
    std::string split = "operation";     ///< layers: what is held out
    std::vector<std::string> baselines;  ///< layers
    std::string csv;
    std::string picture;
    Output output;
};

/// Calls of a study's operation, made by its worker.
class Calls {
  public:
    /// Starts the worker. Throws Error.
    explicit Calls(const StudyOptions& options);

    /// One run for each number, in that order. Throws Error when it fails or takes ten times longer than expected.
    std::vector<Runtime> time(const std::vector<std::int64_t>& numbers, double expected_s);
    /// About what a call takes, found by runs that become longer.
    double call_s();
    const std::string& device() const { return device_; }

  private:
    Supervisor supervisor_;
    protocol::TimeRuns request_;
    std::string device_;
};

int study_proportionality(const StudyOptions& options);
int study_startup(const StudyOptions& options);

// Studies of a database.
int study_dataset_size(const StudyOptions& options);
int study_features(const StudyOptions& options);
int study_learners(const StudyOptions& options);
int study_layers(const StudyOptions& options);
int study_augmentation(const StudyOptions& options);
int study_latency(const StudyOptions& options);
int study_fusion(const StudyOptions& options);
int study_boards(const StudyOptions& options);
int study_what_next(const StudyOptions& options);

/// One table of a study.
struct StudyTable {
    std::string key;  ///< in JSON
    std::string title;
    Table full;
    std::optional<Table> shown = std::nullopt;  ///< to people; absent: all of it
};

/// What a study of a database found. CSV is its first table.
struct StudyResult {
    std::vector<StudyTable> tables;
    std::string notes;  ///< below the tables; in JSON "notes"
    std::vector<Plot> plots;
};

/// Prints it in the format asked for, and writes CSV and picture. Returns the exit status.
int write_study(const StudyOptions& options, const StudyResult& result);

/// What the database holds of the device asked for, or of all. Throws UsageError without a database.
std::vector<MeasuredRows> studied_rows(const StudyOptions& options);

/// Of each row, whether a measured network of the database calls an operation of its group.
std::vector<bool> of_networks(const MeasuredRows& rows);
/// Why rows of networks and others cannot be told apart or compared; empty where they can.
std::string no_variants_reason(const MeasuredRows& rows, const std::vector<bool>& of_networks);

/// Writes "WHAT 3 of 15" to standard error.
std::function<void(std::size_t, std::size_t)> study_progress(const std::string& what);

/// "nvidia-a30, tf32": under a picture's title.
std::string describe(const MeasuredRows& rows);

/// The learner named, or the default; throws UsageError for several and for auto where a study needs one learner.
Learner one_learner(const StudyOptions& options, Learner otherwise);

}  // namespace joulecast::cli
