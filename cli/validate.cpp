#include <cmath>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "cli/baseline_output.h"
#include "cli/known.h"
#include "cli/measured_rows.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/evaluate/leave_device_out.h"
#include "joulecast/predict/jcp.h"
#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

struct Options {
    std::string database;
    std::string predictor;
    std::vector<std::string> devices;
    std::string split = "operation";
    std::size_t folds = 5;
    std::size_t probes = 0;  ///< operations measured on a device left out
    std::vector<std::string> learners;
    CLI::Option* baselines_given = nullptr;
    std::vector<std::string> baselines;  ///< by name; none named: all
    std::string predictions;
    std::string outliers = "keep";
    Output output;
};

struct Validated {
    std::string split;
    bool drops_outliers = false;
    std::size_t dropped = 0;        ///< training rows, over all parts
    std::size_t training_rows = 0;  ///< with those dropped
    std::vector<OutOfFoldRow> rows;
    std::vector<NetworkAccuracy> networks;
    std::vector<BaselineNetwork> baselines;
    bool lacks_lattuada = false;  ///< asked for, and the split has no networks
};

const std::vector<Column<Accuracy>>& accuracy_columns() {
    static const std::vector<Column<Accuracy>> list = {
        {"model", "model", Show::text, [](const Accuracy& a) { return a.model; }},
        {"metric", "metric", Show::text, [](const Accuracy& a) { return a.metric; }},
        {"family", "family", Show::text, [](const Accuracy& a) { return a.family; }},
        {"device", "device", Show::text, [](const Accuracy& a) { return a.device; }},
        {"mode", "mode", Show::text, [](const Accuracy& a) { return a.mode; }},
        {"math", "math", Show::text, [](const Accuracy& a) { return a.math; }},
        {"rows", "rows", Show::count, [](const Accuracy& a) { return a.rows; }},
        {"rows_without_forecast", "none", Show::count, [](const Accuracy& a) { return a.rows_without_forecast; }},
        {"groups", "groups", Show::count, [](const Accuracy& a) { return a.groups; }},
        {"r2", "R²", Show::number, [](const Accuracy& a) { return known(a.r2); }},
        {"r2_fold_mean", "R² folds", Show::number, [](const Accuracy& a) { return known(a.r2_fold_mean); }},
        {"r2_fold_std", "±", Show::number, [](const Accuracy& a) { return known(a.r2_fold_std); }},
        {"r2_log", "R² log", Show::number, [](const Accuracy& a) { return known(a.r2_log); }},
        {"mape", "MAPE", Show::percent, [](const Accuracy& a) { return known(a.mape); }},
        {"median_ape", "median", Show::percent, [](const Accuracy& a) { return known(a.median_ape); }},
        {"bias", "bias", Show::percent, [](const Accuracy& a) { return known(a.bias); }},
        {"mae", "MAE", Show::number, [](const Accuracy& a) { return known(a.mae); }},
        {"medae", "MedAE", Show::number, [](const Accuracy& a) { return known(a.medae); }},
        {"max_error", "max", Show::number, [](const Accuracy& a) { return known(a.max_error); }},
        {"interval_coverage", "in 90 %", Show::percent, [](const Accuracy& a) { return known(a.interval.share); }},
        {"interval_coverage_low", "from", Show::percent,
         [](const Accuracy& a) { return known(a.interval.bounds.low); }},
        {"interval_coverage_high", "to", Show::percent,
         [](const Accuracy& a) { return known(a.interval.bounds.high); }},
        {"interval_contains_90", "90 % fits", Show::text,
         [](const Accuracy& a) { return known(a.interval.contains_90()); }},
        {"interval_width", "width", Show::percent, [](const Accuracy& a) { return known(a.interval.width); }},
    };
    return list;
}

double relative_error(double forecast, double measured) {
    return std::abs(forecast / measured - 1);
}

std::string sizes_text(const NetworkAccuracy& n) {
    std::string text;
    for (const auto& [symbol, value] : n.symbols) {
        text += (text.empty() ? "" : ", ") + symbol + "=" + std::to_string(value);
    }
    return text;
}

const std::vector<Column<NetworkAccuracy>>& network_columns() {
    using N = NetworkAccuracy;
    static const std::vector<Column<N>> list = {
        {"network", "network", Show::text, [](const N& n) { return n.network; }},
        {"device", "device", Show::text, [](const N& n) { return n.device; }},
        {"symbols", "sizes", Show::text, sizes_text},
        {"clock_mhz", "clock", Show::number, [](const N&) { return Cell(); }},
        {"mode", "mode", Show::text, [](const N& n) { return std::string(name(n.mode)); }},
        {"precision", "precision", Show::text, [](const N& n) { return n.precision; }},
        {"host", "host", Show::text, [](const N& n) { return std::string(name(n.host)); }},
        {"measured_time_s", "measured", Show::seconds, [](const N& n) { return known(n.measured_time_s); }},
        {"predicted_time_s", "forecast", Show::seconds,
         [](const N& n) { return known(n.predicted_time.value.value()); }},
        {"predicted_low_s", "low", Show::seconds, [](const N& n) { return known(n.predicted_time.low.value()); }},
        {"predicted_high_s", "high", Show::seconds, [](const N& n) { return known(n.predicted_time.high.value()); }},
        {"error", "error", Show::percent,
         [](const N& n) { return known(n.predicted_time.value.value() / n.measured_time_s - 1); }},
        {"summed_time_s", "Σ measured", Show::seconds, [](const N& n) { return known(n.summed_time_s); }},
        {"summed_error", "Σ error", Show::percent,
         [](const N& n) { return known(n.summed_time_s / n.measured_time_s - 1); }},
        {"summed_measured_share", "Σ covers", Show::percent, [](const N& n) { return n.measured_share; }},
        {"measured_energy_j", "energy", Show::joules, [](const N& n) { return known(n.measured_energy_j); }},
        {"predicted_energy_j", "forecast", Show::joules,
         [](const N& n) { return known(n.predicted_energy.value.value()); }},
        {"predicted_energy_low_j", "low", Show::joules,
         [](const N& n) { return known(n.predicted_energy.low.value()); }},
        {"predicted_energy_high_j", "high", Show::joules,
         [](const N& n) { return known(n.predicted_energy.high.value()); }},
        {"energy_error", "error", Show::percent,
         [](const N& n) { return known(n.predicted_energy.value.value() / n.measured_energy_j - 1); }},
        {"summed_energy_j", "Σ measured", Show::joules, [](const N& n) { return known(n.summed_energy_j); }},
        {"measured_peak_bytes", "memory", Show::bytes, [](const N& n) { return known(n.measured_peak_bytes); }},
        {"predicted_peak_bytes", "forecast", Show::bytes, [](const N& n) { return known(n.predicted_peak_bytes); }},
        {"inside_interval", "in 90 %", Show::text, [](const N& n) { return n.inside_interval; }},
        {"energy_inside_interval", "energy in 90 %", Show::text,
         [](const N& n) { return known(n.energy_inside_interval); }},
    };
    return list;
}

template <class Row>
std::vector<Column<Row>> only(const std::vector<Column<Row>>& columns, std::initializer_list<const char*> keys) {
    std::vector<Column<Row>> chosen;
    for (const auto& column : columns) {
        for (const char* key : keys) {
            if (column.key == key) chosen.push_back(column);
        }
    }
    return chosen;
}

/// How far forecasts and sums of measured operations are off, over the networks of one mode or of all.
struct NetworkSummary {
    std::string mode;
    std::string precision;
    std::string host;
    std::vector<double> forecast, summed, memory, energy, summed_energy;
    Coverage time_interval, energy_interval;
};

template <class Unit>
double relative_width(const Estimate<Unit>& forecast) {
    return (forecast.high.value() - forecast.low.value()) / forecast.value.value();
}

NetworkSummary summary(const std::string& mode, const std::string& precision, const std::string& host,
                       const std::vector<NetworkAccuracy>& networks) {
    NetworkSummary s;
    s.mode = mode;
    s.precision = precision;
    s.host = host;
    std::vector<IntervalOutcome> time, energy_outcomes;
    for (const NetworkAccuracy& n : networks) {
        if (mode != "all" && (mode != name(n.mode) || precision != n.precision || host != name(n.host))) continue;
        s.forecast.push_back(relative_error(n.predicted_time.value.value(), n.measured_time_s));
        if (std::isfinite(n.summed_time_s)) s.summed.push_back(relative_error(n.summed_time_s, n.measured_time_s));
        const double memory = relative_error(n.predicted_peak_bytes, n.measured_peak_bytes);
        if (std::isfinite(memory)) s.memory.push_back(memory);
        time.push_back({n.inside_interval, relative_width(n.predicted_time)});
        const double energy = relative_error(n.predicted_energy.value.value(), n.measured_energy_j);
        if (std::isfinite(energy)) s.energy.push_back(energy);
        const double summed_energy = relative_error(n.summed_energy_j, n.measured_energy_j);
        if (std::isfinite(summed_energy)) s.summed_energy.push_back(summed_energy);
        if (n.energy_inside_interval)
            energy_outcomes.push_back({*n.energy_inside_interval, relative_width(n.predicted_energy)});
    }
    s.time_interval = coverage(time);
    s.energy_interval = coverage(energy_outcomes);
    return s;
}

std::vector<NetworkSummary> summaries(const std::vector<NetworkAccuracy>& networks) {
    std::vector<NetworkSummary> all;
    std::set<std::string> precisions, hosts;
    for (const NetworkAccuracy& n : networks) precisions.insert(n.precision);
    for (const NetworkAccuracy& n : networks) hosts.emplace(name(n.host));
    for (const char* mode : {"inference", "training"}) {
        for (const std::string& precision : precisions) {
            for (const std::string& host : hosts) all.push_back(summary(mode, precision, host, networks));
        }
    }
    std::erase_if(all, [](const NetworkSummary& s) { return s.forecast.empty(); });
    if (all.size() > 1) all.push_back(summary("all", "all", "all", networks));
    return all;
}

Cell of(double (*statistic)(std::span<const double>), const std::vector<double>& sample) {
    return sample.empty() ? Cell() : known(statistic(sample));
}

const std::vector<Column<NetworkSummary>>& summary_columns() {
    using S = NetworkSummary;
    static const std::vector<Column<S>> list = {
        {"mode", "mode", Show::text, [](const S& s) { return s.mode; }},
        {"precision", "precision", Show::text, [](const S& s) { return s.precision; }},
        {"host", "host", Show::text, [](const S& s) { return s.host; }},
        {"networks", "networks", Show::count, [](const S& s) { return static_cast<std::int64_t>(s.forecast.size()); }},
        {"time_mape", "forecast MAPE", Show::percent, [](const S& s) { return of(mean, s.forecast); }},
        {"time_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.forecast); }},
        {"interval_coverage", "in 90 %", Show::percent, [](const S& s) { return known(s.time_interval.share); }},
        {"interval_coverage_low", "from", Show::percent, [](const S& s) { return known(s.time_interval.bounds.low); }},
        {"interval_coverage_high", "to", Show::percent, [](const S& s) { return known(s.time_interval.bounds.high); }},
        {"interval_contains_90", "90 % fits", Show::text,
         [](const S& s) { return known(s.time_interval.contains_90()); }},
        {"interval_width", "width", Show::percent, [](const S& s) { return known(s.time_interval.width); }},
        {"summed_time_mape", "Σ measured MAPE", Show::percent, [](const S& s) { return of(mean, s.summed); }},
        {"summed_time_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.summed); }},
        {"energy_mape", "energy MAPE", Show::percent, [](const S& s) { return of(mean, s.energy); }},
        {"energy_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.energy); }},
        {"energy_interval_coverage", "in 90 %", Show::percent,
         [](const S& s) { return known(s.energy_interval.share); }},
        {"energy_interval_coverage_low", "from", Show::percent,
         [](const S& s) { return known(s.energy_interval.bounds.low); }},
        {"energy_interval_coverage_high", "to", Show::percent,
         [](const S& s) { return known(s.energy_interval.bounds.high); }},
        {"energy_interval_contains_90", "90 % fits", Show::text,
         [](const S& s) { return known(s.energy_interval.contains_90()); }},
        {"energy_interval_width", "width", Show::percent, [](const S& s) { return known(s.energy_interval.width); }},
        {"summed_energy_mape", "Σ measured MAPE", Show::percent, [](const S& s) { return of(mean, s.summed_energy); }},
        {"memory_mape", "memory MAPE", Show::percent, [](const S& s) { return of(mean, s.memory); }},
        {"memory_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.memory); }},
    };
    return list;
}

/// Where devices were left out, all of them together too.
std::vector<Accuracy> all_accuracies(const Validated& v) {
    auto lines = accuracies(v.rows);
    if (v.split != "device") return lines;
    auto rows = v.rows;
    for (OutOfFoldRow& row : rows) row.device = "all";
    auto together = accuracies(rows);
    std::move(together.begin(), together.end(), std::back_inserter(lines));
    return lines;
}

/// Families of both modes together, and of each mode the sum alone: the rest is in JSON and CSV.
std::vector<Accuracy> lines_of_text(const Validated& v) {
    auto lines = all_accuracies(v);
    std::set<std::tuple<std::string, std::string, std::string, std::string>> with_both;
    for (const Accuracy& a : lines) {
        if (a.mode == "all") with_both.emplace(a.model, a.metric, a.device, a.math);
    }
    std::erase_if(lines, [&](const Accuracy& a) {
        return a.mode != "all" && a.family != "all" && with_both.contains({a.model, a.metric, a.device, a.math});
    });
    return lines;
}

std::string to_text(const Validated& v) {
    std::string text = "split: " + v.split;
    if (v.split == "random")
        text += "  (LEAKS: equal operations stand in training and test; for comparison with papers)";
    if (v.split == "none") text += "  (the predictor as it is; it may have been trained on these rows)";
    text += "\n";
    if (v.drops_outliers)
        text += "outliers: " + std::to_string(v.dropped) + " of " + std::to_string(v.training_rows) +
                " training rows dropped, over all parts; all are tested\n";
    text += "\n";
    if (!v.rows.empty()) {
        text += joulecast::to_text(fill(only(accuracy_columns(), {"model",
                                                                  "metric",
                                                                  "device",
                                                                  "family",
                                                                  "mode",
                                                                  "math",
                                                                  "rows",
                                                                  "groups",
                                                                  "r2",
                                                                  "r2_fold_mean",
                                                                  "r2_fold_std",
                                                                  "r2_log",
                                                                  "mape",
                                                                  "median_ape",
                                                                  "bias",
                                                                  "interval_coverage",
                                                                  "interval_coverage_low",
                                                                  "interval_coverage_high",
                                                                  "interval_contains_90",
                                                                  "interval_width"}),
                                        lines_of_text(v)));
        text += gaps_text(v.rows);
        if (v.lacks_lattuada) text += lattuada_gap() + "\n";
    }
    if (v.networks.empty()) return text;
    text +=
        "\n" + joulecast::to_text(fill(
                   only(network_columns(), {"network", "device", "symbols", "mode", "precision", "host",
                                            "measured_time_s", "predicted_time_s", "error", "summed_time_s",
                                            "summed_error", "measured_energy_j", "predicted_energy_j", "energy_error",
                                            "measured_peak_bytes", "predicted_peak_bytes", "inside_interval"}),
                   v.networks));
    text += "\n" + joulecast::to_text(fill(summary_columns(), summaries(v.networks)));
    text += baseline_networks_text(v.baselines);
    return text;
}

std::string to_json(const Validated& v) {
    using Json = nlohmann::ordered_json;
    Json answer{{"schema", "joulecast.validation/1"}, {"split", v.split}, {"leaks", v.split == "random"}};
    if (v.drops_outliers) answer["outliers"] = {{"dropped", v.dropped}, {"training_rows", v.training_rows}};
    answer["operations"] = Json::parse(joulecast::to_json(fill(accuracy_columns(), all_accuracies(v))));
    answer["without_forecast"] = Json::parse(gaps_json(v.rows));
    if (v.lacks_lattuada) {
        answer["without_forecast"].push_back({{"model", std::string(Lattuada::name)}, {"reason", lattuada_gap()}});
    }
    answer["networks"] = Json::parse(joulecast::to_json(fill(network_columns(), v.networks)));
    Json mape{{"time", nullptr}, {"energy", nullptr}};
    if (!v.networks.empty()) {
        const NetworkSummary all = summary("all", "all", "all", v.networks);
        mape["time"] = mean(all.forecast);
        if (!all.energy.empty()) mape["energy"] = mean(all.energy);
        answer["network_summary"] = Json::parse(joulecast::to_json(fill(summary_columns(), summaries(v.networks))));
    }
    answer["network_mape"] = mape;
    answer["network_baselines"] = Json::parse(baseline_networks_json(v.baselines));
    return answer.dump(2) + '\n';
}

void write_predictions(const std::string& path, const std::vector<OutOfFoldRow>& rows) {
    using R = OutOfFoldRow;
    const std::vector<Column<R>> columns = {
        {"model", "", Show::text, [](const R& r) { return r.model; }},
        {"metric", "", Show::text, [](const R& r) { return r.metric; }},
        {"family", "", Show::text, [](const R& r) { return r.family; }},
        {"fold", "", Show::count, [](const R& r) { return static_cast<std::int64_t>(r.fold); }},
        {"group", "", Show::text, [](const R& r) { return r.group; }},
        {"measured", "", Show::number, [](const R& r) { return known(r.measured); }},
        {"predicted", "", Show::number, [](const R& r) { return known(r.predicted); }},
        {"low", "", Show::number, [](const R& r) { return known(r.low); }},
        {"high", "", Show::number, [](const R& r) { return known(r.high); }},
        {"device", "", Show::text, [](const R& r) { return r.device; }},
        {"mode", "", Show::text, [](const R& r) { return r.mode; }},
        {"math", "", Show::text, [](const R& r) { return r.math; }},
    };
    Output file;
    file.file = path;
    file.write(to_csv(fill(columns, rows)));
}

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// Scores a predictor file as it is, on everything measured on its devices.
void score(const Predictor& predictor, const MeasuredRows& rows, Validated& v) {
    const auto features = columns(predictor);
    const DeviceModel& model = device_model(predictor, rows.device.id, rows.setting);
    append(v.rows, score_predictor(model, features, rows.operations));
    append(v.networks, score_networks(model, features, rows.networks, rows.measured).networks);
}

void cross_validate(const Options& options, const MeasuredRows& rows, Validated& v) {
    ValidationSettings settings;
    settings.folds = options.folds;
    settings.grouped = options.split != "random";
    for (const std::string& learner : options.learners) {
        settings.learners.push_back(parse_learner(learner));  // none: auto
    }
    std::vector<Learner> named;
    for (const auto& learner : settings.learners) {
        if (learner) named.push_back(*learner);
    }
    tell_samples(rows, named);
    if (!options.baselines_given->empty()) choose_baselines(options.baselines, settings);
    settings.progress = [](std::size_t done, std::size_t all) {
        std::cerr << "validated " << done << " of " << all << " parts\n";
    };
    settings.drop_outliers = v.drops_outliers;
    settings.dropped = [&v](std::size_t dropped, std::size_t all) {
        std::cerr << "dropped " << dropped << " of " << all << " training rows as outliers\n";
        v.dropped += dropped;
        v.training_rows += all;
    };
    if (options.split != "network") {
        v.lacks_lattuada |= settings.lattuada;
        append(v.rows, validate_operations(rows.device, rows.setting, rows.operations, settings));
        return;
    }
    if (rows.networks.empty()) {
        throw Error("the database has no measured networks of " + rows.device.id +
                    ". Measure some with: joulecast profile MODEL... --networks");
    }
    auto validation =
        validate_networks(rows.device, rows.setting, rows.operations, rows.networks, rows.measured, settings);
    append(v.rows, std::move(validation.operations));
    append(v.networks, std::move(validation.networks));
    append(v.baselines, std::move(validation.baselines));
}

void leave_devices_out(const Options& options, std::vector<MeasuredRows> measured, Validated& v) {
    ValidationSettings settings;
    if (options.learners.size() > 1)
        throw UsageError("--split device trains one model over devices: name one learner, or none");
    for (const std::string& learner : options.learners) settings.training.learner = parse_learner(learner);
    if (!options.baselines_given->empty()) choose_baselines(options.baselines, settings);
    v.lacks_lattuada |= settings.lattuada;
    settings.progress = [](std::size_t done, std::size_t all) {
        std::cerr << "validated " << done << " of " << all << " devices\n";
    };
    std::vector<MeasuredDevice> devices;
    for (MeasuredRows& rows : measured) {
        devices.push_back({{rows.device, rows.setting, std::move(rows.operations)},
                           std::move(rows.networks),
                           std::move(rows.measured)});
        rows.rows = {};
    }
    auto validation = validate_devices(devices, settings, options.probes);
    append(v.rows, std::move(validation.operations));
    append(v.networks, std::move(validation.networks));
    append(v.baselines, std::move(validation.baselines));
}

int run(const Options& options) {
    const Dataset dataset(options.database, Dataset::Access::read_only);
    Validated v;
    v.split = options.predictor.empty() ? options.split : "none";
    v.drops_outliers = options.outliers == "drop";
    if (v.drops_outliers && options.split == "device")
        throw UsageError("--outliers drop is not for devices that are left out. Choose another --split");
    if (options.probes > 0 && options.split != "device")
        throw UsageError("--probes is for devices that are left out: --split device");
    if (options.predictor.empty() && options.split == "device") {
        leave_devices_out(options, measured_rows(dataset, options.devices), v);
    } else if (options.predictor.empty()) {
        for (const MeasuredRows& rows : measured_rows(dataset, options.devices)) cross_validate(options, rows, v);
    } else {
        const Predictor predictor = read_jcp(options.predictor);
        const auto known_settings = [&](const std::string& device) { return settings_of(predictor, device); };
        for (const MeasuredRows& rows : measured_rows(dataset, options.devices, known_settings))
            score(predictor, rows, v);
    }
    if (!options.predictions.empty()) write_predictions(options.predictions, v.rows);
    if (options.output.format == "json") {
        options.output.write(to_json(v));
    } else if (options.output.format == "csv") {
        const bool networks = v.split == "network";
        options.output.write(networks ? to_csv(fill(network_columns(), v.networks))
                                      : to_csv(fill(accuracy_columns(), all_accuracies(v))));
    } else {
        options.output.write(to_text(v));
    }
    return done;
}

}  // namespace

Run declare_validate(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    command.add_option("--db", options->database, "database of measurements")->required();
    auto* predictor = command.add_option("--predictor", options->predictor, "score this .jcp file as it is");
    command.add_option("--device", options->devices, "device ids; without, every device of the database");
    command
        .add_option("--split", options->split, "what is held out: operation, network, device, or random rows (leaks)")
        ->check(CLI::IsMember({"operation", "network", "device", "random"}))
        ->capture_default_str()
        ->excludes(predictor);
    command.add_option("--folds", options->folds, "parts that operations are split into")
        ->check(CLI::Range(2, 100))
        ->capture_default_str()
        ->excludes(predictor);
    command.add_option("--probes", options->probes, "operations of the device left out that the model is adjusted to")
        ->check(CLI::Range(0, 1000))
        ->excludes(predictor);
    command.add_option("--learner", options->learners, "learners to compare: auto, extra_trees, ...")
        ->check(CLI::IsMember(learner_words()))
        ->excludes(predictor);
    options->baselines_given =
        command.add_option("--baselines", options->baselines, "add published methods, all or those named");
    options->baselines_given->expected(0, -1)->delimiter(',')->excludes(predictor);
    command
        .add_option("--outliers", options->outliers,
                    "of training rows: keep, or drop what an isolation forest finds odd")
        ->check(CLI::IsMember({"keep", "drop"}))
        ->capture_default_str()
        ->excludes(predictor);
    command.add_option("--predictions", options->predictions, "write every held-out forecast to this CSV file");
    options->output.declare(command);
    return [options] { return run(*options); };
}

}  // namespace joulecast::cli
