#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "cli/known.h"
#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/model/jcp.h"
#include "joulecast/units/statistics.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
/// What a study of a moment looks at, at most; every n-th of more.
constexpr std::size_t most_operations = 500;

// Nicolai 2025, "On Energy Modeling of Deep Neural Network Operations", section 5.4: loading "around 30 seconds for the
// full set of models", preprocessing "for an individual model ... less than 500 ms", prediction of all 18 model-input
// sets "around 30 ms".
constexpr double thesis_load_s = 30;
constexpr double thesis_features_s = 0.5;
constexpr double thesis_predict_s = 0.03;

/// Medians over repeats.
struct Step {
    std::string device;
    std::string what;
    double time_s = missing, low_s = missing, high_s = missing;  ///< median, 5 and 95 % quantile
    std::size_t repeats = 0;
    double thesis_s = missing;
    double measuring_s = missing;  ///< median of what measuring the same took
};

const std::vector<Column<Step>>& columns() {
    static const std::vector<Column<Step>> list = {
        {"device", "device", Show::text, [](const Step& s) { return s.device; }},
        {"step", "step", Show::text, [](const Step& s) { return s.what; }},
        {"time_s", "median", Show::seconds, [](const Step& s) { return known(s.time_s); }},
        {"p05_s", "5 %", Show::seconds, [](const Step& s) { return known(s.low_s); }},
        {"p95_s", "95 %", Show::seconds, [](const Step& s) { return known(s.high_s); }},
        {"repeats", "repeats", Show::count, [](const Step& s) { return static_cast<std::int64_t>(s.repeats); }},
        {"thesis_s", "thesis", Show::seconds, [](const Step& s) { return known(s.thesis_s); }},
        {"thesis_ratio", "thesis / ours", Show::number, [](const Step& s) { return known(s.thesis_s / s.time_s); }},
        {"measuring_s", "measuring", Show::seconds, [](const Step& s) { return known(s.measuring_s); }},
        {"measuring_ratio", "measuring / ours", Show::number,
         [](const Step& s) { return known(s.measuring_s / s.time_s); }},
    };
    return list;
}

/// Times `work` as often as asked; what it does is divided among `parts`.
Step timed(std::string what, std::size_t repeats, double parts, const std::function<void()>& work) {
    std::vector<double> times;
    for (std::size_t i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / parts);
    }
    Step step;
    step.what = std::move(what);
    step.time_s = median(times);
    step.low_s = quantile(times, 0.05);
    step.high_s = quantile(times, 0.95);
    step.repeats = repeats;
    return step;
}

/// A predictor of the rows in a file that goes with this object.
class TrainedFile {
  public:
    explicit TrainedFile(const std::vector<MeasuredRows>& measured) {
        path_ = (std::filesystem::temp_directory_path() / ("joulecast-latency-" + std::to_string(::getpid()) + ".jcp"))
                    .string();
        Predictor predictor = empty_predictor();
        TrainSettings settings;
        settings.learner = Learner::extra_trees;
        for (const MeasuredRows& rows : measured) {
            std::cerr << "training for " << describe(rows) << '\n';
            predictor.devices.push_back(
                train_device(rows.device, rows.setting, rows.operations, rows.networks, settings));
        }
        write_jcp(predictor, path_);
    }
    TrainedFile(const TrainedFile&) = delete;
    TrainedFile& operator=(const TrainedFile&) = delete;
    ~TrainedFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// Of a device's rows that say how long measuring them took.
template <class Rows>
double median_wall_s(const Rows& rows) {
    std::vector<double> seconds;
    for (const auto& row : rows) {
        if (row.measurement.wall_s > 0) seconds.push_back(row.measurement.wall_s);
    }
    return median(seconds);
}

/// Keeps the compiler from leaving out what is timed.
volatile double kept = 0;
void keep(double value) {
    kept = value;
}

class DeviceLatency {
  public:
    DeviceLatency(const Predictor& predictor, const MeasuredRows& rows, std::size_t repeats)
        : model_(device_model(predictor, rows.device.id, rows.setting)),
          columns_(joulecast::columns(predictor)),
          rows_(rows),
          repeats_(repeats) {
        const std::size_t every = (rows.operations.size() + most_operations - 1) / most_operations;
        for (std::size_t i = 0; i < rows.operations.size(); i += every)
            operations_.push_back(rows.operations[i].operation.operation);
    }

    std::vector<Step> steps() const {
        const auto count = static_cast<double>(operations_.size());
        Step features = timed("features of an operation", repeats_, count, [&] { keep(features_of(operations_)); });
        Step operation = timed("forecast of an operation", repeats_, count, [&] {
            for (const Operation& call : operations_) {
                const auto prepared = prepare(call, model_.device, model_.point.math);
                keep(forecast_operation(model_, columns_, prepared, {}).cost.device_time.value.value());
            }
        });
        operation.measuring_s = median_wall_s(rows_.rows);
        std::vector<Step> steps{features, operation};
        add_networks(steps);
        for (Step& step : steps) step.device = rows_.device.id;
        return steps;
    }

  private:
    double features_of(const std::vector<Operation>& operations) const {
        double sum = 0;
        for (const Operation& operation : operations) {
            const auto prepared = prepare(operation, model_.device, model_.point.math);
            const FamilyModel* model = find_model(model_, prepared.family(), Metric::time);
            if (model != nullptr) sum += static_cast<double>(feature_row(model_, *model, columns_, prepared).front());
        }
        return sum;
    }

    /// The networks of the database, one after another: a network is their mean.
    void add_networks(std::vector<Step>& steps) const {
        if (rows_.networks.empty()) return;
        const auto count = static_cast<double>(rows_.networks.size());
        Step features = timed("features of a network", repeats_, count, [&] {
            for (const TrainingNetwork& network : rows_.networks) {
                std::vector<Operation> operations;
                for (const CountedOperation& counted : count_operations(network.graph))
                    operations.push_back(counted.operation);
                keep(features_of(operations));
            }
        });
        features.thesis_s = thesis_features_s;
        Step forecast = timed("forecast of a network", repeats_, count, [&] {
            for (const TrainingNetwork& network : rows_.networks) {
                const std::string& precision = network.measurement.precision;
                keep(forecast_network(network.graph, precision, model_, columns_, {}).time.value.value());
            }
        });
        forecast.thesis_s = thesis_predict_s;
        forecast.measuring_s = median_wall_s(rows_.networks);
        steps.push_back(features);
        steps.push_back(forecast);
    }

    const DeviceModel& model_;
    std::vector<const Feature*> columns_;
    const MeasuredRows& rows_;
    std::size_t repeats_;
    std::vector<Operation> operations_;
};

Plot plot_of(const std::vector<Step>& steps) {
    Plot plot{"Time to a forecast",
              "medians; the thesis' on its machine, ours on this one",
              {""},
              {"time", "s", true},
              {},
              {}};
    PlotSeries ours{"joulecast", PlotSeries::Style::bars, {}, {}};
    PlotSeries thesis{"thesis (Nicolai 2025, section 5.4)", PlotSeries::Style::bars, {}, {}};
    PlotSeries measuring{"measuring instead", PlotSeries::Style::bars, {}, {}};
    for (const Step& step : steps) {
        const auto at = static_cast<double>(plot.x.labels.size());
        plot.x.labels.push_back(step.device.empty() ? step.what : step.what + ", " + step.device);
        for (const auto& [series, value] : {std::pair(&ours, step.time_s), std::pair(&thesis, step.thesis_s),
                                            std::pair(&measuring, step.measuring_s)}) {
            series->x.push_back(at);
            series->y.push_back(value);
        }
    }
    plot.series = {ours, thesis, measuring};
    return plot;
}

}  // namespace

int study_latency(const StudyOptions& options) {
    const std::size_t repeats = options.repeats.value_or(20);
    const auto studied = studied_rows(options);
    std::optional<TrainedFile> trained;
    if (options.predictor.empty()) trained.emplace(studied);
    const std::string path = trained ? trained->path() : options.predictor;
    const Predictor predictor = read_jcp(path);
    std::vector<Step> steps{
        timed("load the predictor", repeats, 1, [&] { keep(static_cast<double>(read_jcp(path).devices.size())); })};
    steps.front().thesis_s = thesis_load_s;
    for (const MeasuredRows& rows : studied)
        for (Step& step : DeviceLatency(predictor, rows, repeats).steps()) steps.push_back(std::move(step));
    StudyResult result;
    result.tables = {{"results", "Time of each step, on this machine", fill(columns(), steps)}};
    result.plots = {plot_of(steps)};
    result.notes =
        "thesis: Nicolai 2025, section 5.4: loading around 30 s, preparing a network's features less than 0.5 s, "
        "forecasting all 18 networks and inputs around 30 ms\n"
        "measuring: median of what measuring an operation or a network of the database took, the network built but "
        "nothing installed or compiled; empty where the database does not say\n"
        "the file of the predictor (" +
        show(static_cast<double>(std::filesystem::file_size(path)), Show::bytes) + ") is in the page cache\n";
    return write_study(options, result);
}

}  // namespace joulecast::cli
