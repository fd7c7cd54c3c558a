#include "cli/validation_output.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <tuple>

#include "cli/baseline_output.h"
#include "cli/clock_chances.h"
#include "cli/composition_output.h"
#include "cli/json_tree.h"
#include "cli/known.h"
#include "cli/memory_output.h"
#include "cli/network_sentence.h"
#include "cli/ratio_output.h"
#include "cli/validate_clocks.h"
#include "cli/verb.h"
#include "joulecast/evaluate/network_clock_choice.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

/// How often 90 % intervals held what was measured, the exact interval of that share, and how wide they were.
template <class Row>
std::vector<Column<Row>> coverage_columns(const std::string& prefix, Coverage Row::* of) {
    return {
        {prefix + "interval_coverage", "in 90 %", Show::percent, [of](const Row& r) { return known((r.*of).share); }},
        {prefix + "interval_coverage_low", "from", Show::percent,
         [of](const Row& r) { return known((r.*of).bounds.low); }},
        {prefix + "interval_coverage_high", "to", Show::percent,
         [of](const Row& r) { return known((r.*of).bounds.high); }},
        {prefix + "interval_contains_90", "90 % fits", Show::text,
         [of](const Row& r) { return known((r.*of).contains_90()); }},
        {prefix + "interval_width", "width", Show::percent, [of](const Row& r) { return known((r.*of).width); }},
    };
}

template <class Row>
std::vector<Column<Row>> chained(std::initializer_list<std::vector<Column<Row>>> parts) {
    std::vector<Column<Row>> list;
    for (const auto& part : parts) list.insert(list.end(), part.begin(), part.end());
    return list;
}

const std::vector<Column<Accuracy>>& accuracy_columns() {
    static const std::vector<Column<Accuracy>> list = chained<Accuracy>(
        {{
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
         },
         coverage_columns("", &Accuracy::interval)});
    return list;
}

double relative_error(double forecast, double measured) {
    return std::abs(forecast / measured - 1);
}

const std::vector<Column<NetworkAccuracy>>& network_columns() {
    using N = NetworkAccuracy;
    static const std::vector<Column<N>> list = {
        {"network", "network", Show::text, [](const N& n) { return n.network; }},
        {"device", "device", Show::text, [](const N& n) { return n.device; }},
        {"symbols", "sizes", Show::text, [](const N& n) { return values_text(n.symbols); }},
        {"clock_mhz", "clock", Show::number, [](const N& n) { return known(n.sm_clock_mhz); }},
        {"memory_clock_mhz", "memory clock", Show::number, [](const N& n) { return known(n.memory_clock_mhz); }},
        {"power_limit_w", "limit", Show::number, [](const N& n) { return known(n.power_limit_w); }},
        {"real_clock_mhz", "ran at", Show::number, [](const N& n) { return known(n.real_sm_clock_mhz); }},
        {"predicted_clock_mhz", "forecast", Show::number, [](const N& n) { return known(n.predicted_sm_clock_mhz); }},
        {"mode", "mode", Show::text, [](const N& n) { return std::string(name(n.mode)); }},
        {"precision", "precision", Show::text, [](const N& n) { return n.precision; }},
        {"engine", "engine", Show::text, [](const N& n) { return n.engine; }},
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
        {"measured_power_w", "power", Show::number, [](const N& n) { return known(n.measured_power_w); }},
        {"predicted_power_w", "forecast", Show::number,
         [](const N& n) { return known(n.predicted_power.value.value()); }},
        {"predicted_power_low_w", "low", Show::number, [](const N& n) { return known(n.predicted_power.low.value()); }},
        {"predicted_power_high_w", "high", Show::number,
         [](const N& n) { return known(n.predicted_power.high.value()); }},
        {"power_error", "error", Show::percent,
         [](const N& n) { return known(n.predicted_power.value.value() / n.measured_power_w - 1); }},
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
        {"planned_peak_bytes", "plan alone", Show::bytes, [](const N& n) { return known(n.planned_peak_bytes); }},
        {"resident_bytes", "resident", Show::bytes, [](const N& n) { return known(n.resident_bytes); }},
        {"sponner_optimistic_bytes", "2 x mean", Show::bytes,
         [](const N& n) { return known(n.sponner_optimistic_bytes); }},
        {"sponner_pessimistic_bytes", "two largest", Show::bytes,
         [](const N& n) { return known(n.sponner_pessimistic_bytes); }},
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
    std::vector<double> forecast, summed, memory, power, energy, summed_energy;
    Coverage time_interval, power_interval, energy_interval;
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
    std::vector<IntervalOutcome> time, power_outcomes, energy_outcomes;
    for (const NetworkAccuracy& n : networks) {
        if (mode != "all" && (mode != name(n.mode) || precision != n.precision || host != name(n.host))) continue;
        s.forecast.push_back(relative_error(n.predicted_time.value.value(), n.measured_time_s));
        if (std::isfinite(n.summed_time_s)) s.summed.push_back(relative_error(n.summed_time_s, n.measured_time_s));
        const double memory = relative_error(n.predicted_peak_bytes, n.measured_peak_bytes);
        if (std::isfinite(memory)) s.memory.push_back(memory);
        time.push_back({n.inside_interval, relative_width(n.predicted_time)});
        const Estimate<Watts>& watts = n.predicted_power;
        const double power = relative_error(watts.value.value(), n.measured_power_w);
        if (std::isfinite(power)) {
            const bool inside = watts.low.value() <= n.measured_power_w && n.measured_power_w <= watts.high.value();
            s.power.push_back(power);
            power_outcomes.push_back({inside, relative_width(watts)});
        }
        const double energy = relative_error(n.predicted_energy.value.value(), n.measured_energy_j);
        if (std::isfinite(energy)) s.energy.push_back(energy);
        const double summed_energy = relative_error(n.summed_energy_j, n.measured_energy_j);
        if (std::isfinite(summed_energy)) s.summed_energy.push_back(summed_energy);
        if (n.energy_inside_interval)
            energy_outcomes.push_back({*n.energy_inside_interval, relative_width(n.predicted_energy)});
    }
    s.time_interval = coverage(time);
    s.power_interval = coverage(power_outcomes);
    s.energy_interval = coverage(energy_outcomes);
    return s;
}

std::vector<NetworkSummary> summaries(const std::vector<NetworkAccuracy>& networks) {
    std::vector<NetworkSummary> lines;
    std::set<std::string> precisions, hosts;
    for (const NetworkAccuracy& n : networks) precisions.insert(n.precision);
    for (const NetworkAccuracy& n : networks) hosts.emplace(name(n.host));
    for (const char* mode : {"inference", "training"}) {
        for (const std::string& precision : precisions) {
            for (const std::string& host : hosts) lines.push_back(summary(mode, precision, host, networks));
        }
    }
    std::erase_if(lines, [](const NetworkSummary& s) { return s.forecast.empty(); });
    if (lines.size() > 1) lines.push_back(summary("all", "all", "all", networks));
    return lines;
}

Cell of(double (*statistic)(std::span<const double>), const std::vector<double>& sample) {
    return sample.empty() ? Cell() : known(statistic(sample));
}

const std::vector<Column<NetworkSummary>>& summary_columns() {
    using S = NetworkSummary;
    static const std::vector<Column<S>> list = chained<S>(
        {{
             {"mode", "mode", Show::text, [](const S& s) { return s.mode; }},
             {"precision", "precision", Show::text, [](const S& s) { return s.precision; }},
             {"host", "host", Show::text, [](const S& s) { return s.host; }},
             {"networks", "networks", Show::count,
              [](const S& s) { return static_cast<std::int64_t>(s.forecast.size()); }},
             {"time_mape", "forecast MAPE", Show::percent, [](const S& s) { return of(mean, s.forecast); }},
             {"time_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.forecast); }},
         },
         coverage_columns("", &S::time_interval),
         {
             {"summed_time_mape", "Σ measured MAPE", Show::percent, [](const S& s) { return of(mean, s.summed); }},
             {"summed_time_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.summed); }},
             {"power_mape", "power MAPE", Show::percent, [](const S& s) { return of(mean, s.power); }},
             {"power_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.power); }},
             {"power_interval_coverage", "in 90 %", Show::percent,
              [](const S& s) { return known(s.power_interval.share); }},
             {"energy_mape", "energy MAPE", Show::percent, [](const S& s) { return of(mean, s.energy); }},
             {"energy_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.energy); }},
         },
         coverage_columns("energy_", &S::energy_interval),
         {
             {"summed_energy_mape", "Σ measured MAPE", Show::percent,
              [](const S& s) { return of(mean, s.summed_energy); }},
             {"memory_mape", "memory MAPE", Show::percent, [](const S& s) { return of(mean, s.memory); }},
             {"memory_median_ape", "median", Show::percent, [](const S& s) { return of(median, s.memory); }},
         }});
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
        if (v.split == "clock" && a.family != "all") return true;  // all are networks
        return a.mode != "all" && a.family != "all" && with_both.contains({a.model, a.metric, a.device, a.math});
    });
    return lines;
}

std::string accuracies_text(const Validated& v) {
    const auto columns = only(accuracy_columns(), {"model",
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
                                                   "interval_width"});
    return joulecast::to_text(fill(columns, lines_of_text(v))) + gaps_text(v.rows) +
           networks_only_text(v.network_methods);
}

std::string networks_text(const Validated& v) {
    auto columns = only(network_columns(), {"network",
                                            "device",
                                            "symbols",
                                            "clock_mhz",
                                            "memory_clock_mhz",
                                            "power_limit_w",
                                            "mode",
                                            "precision",
                                            "host",
                                            "measured_time_s",
                                            "predicted_time_s",
                                            "error",
                                            "summed_time_s",
                                            "summed_error",
                                            "power_error",
                                            "measured_energy_j",
                                            "predicted_energy_j",
                                            "energy_error",
                                            "measured_peak_bytes",
                                            "predicted_peak_bytes",
                                            "inside_interval"});
    const auto drop_unless = [&](const char* key, double NetworkAccuracy::* of) {
        const bool is_known = std::ranges::any_of(v.networks, [of](const NetworkAccuracy& n) { return n.*of > 0; });
        if (!is_known) std::erase_if(columns, [key](const auto& column) { return column.key == key; });
    };
    drop_unless("clock_mhz", &NetworkAccuracy::sm_clock_mhz);
    drop_unless("memory_clock_mhz", &NetworkAccuracy::memory_clock_mhz);
    drop_unless("power_limit_w", &NetworkAccuracy::power_limit_w);
    drop_unless("power_error", &NetworkAccuracy::measured_power_w);
    std::string text = "\n" + joulecast::to_text(fill(columns, v.networks)) + "\n" +
                       joulecast::to_text(fill(summary_columns(), summaries(v.networks)));
    if (const auto regrets = network_clock_regrets(v.networks); !regrets.empty())
        text += "\nExtra cost of the chosen clock over the best measured one:\n\n" + regrets_text(regrets);
    if (!v.device_regrets.empty())
        text += "\nExtra cost of the chosen device over the best measured one:\n\n" + regrets_text(v.device_regrets);
    return text + ratios_text(v.ratios) + compositions_text(v.compositions) + memory_networks_text(v.networks) +
           baseline_networks_text(v.baselines);
}

}  // namespace

std::string to_text(const Validated& v) {
    std::string text = "split: " + v.split;
    if (v.split == "random")
        text += "  (LEAKS: the same operations are in training and test; only for comparison with papers)";
    if (v.split == "none") text += "  (not a held-out test: the predictor may have been trained on these rows)";
    text += '\n';
    if (v.drops_outliers)
        text += "outliers: " + std::to_string(v.dropped) + " of " + std::to_string(v.training_rows) +
                " training rows dropped, over all folds; all rows are tested\n";
    text += '\n';
    if (!v.rows.empty()) text += accuracies_text(v);
    if (!v.clocks.regrets.empty()) text += "\n" + regrets_text(v.clocks.regrets);
    const std::vector<ClockChance> chances = clock_chances(v.clocks.networks);
    if (!chances.empty())
        text += "\nChosen clocks: the chance that `recommend` states, and how often it was right:\n\n" +
                clock_chances_text(chances);
    if (!v.networks.empty()) text += networks_text(v) + "\n" + network_sentence(v.networks, v.split == "network");
    if (v.split == "none") text += verdict(v.networks, v.pace_range);
    return text;
}

std::string to_json(const Validated& v) {
    using Json = nlohmann::ordered_json;
    Json answer{{"schema", "joulecast.validation/1"}, {"split", v.split}, {"leaks", v.split == "random"}};
    if (v.drops_outliers) answer["outliers"] = {{"dropped", v.dropped}, {"training_rows", v.training_rows}};
    answer["operations"] = rows_json(fill(accuracy_columns(), all_accuracies(v)));
    answer["without_forecast"] = rows_json(gaps_table(v.rows));
    for (const NetworkBaseline* method : v.network_methods)
        answer["without_forecast"].push_back({{"model", method->name}, {"reason", networks_only_reason(*method)}});
    answer["networks"] = rows_json(fill(network_columns(), v.networks));
    Json mape{{"time", nullptr}, {"energy", nullptr}};
    if (!v.networks.empty()) {
        const NetworkSummary whole = summary("all", "all", "all", v.networks);
        mape["time"] = mean(whole.forecast);
        if (!whole.energy.empty()) mape["energy"] = mean(whole.energy);
        answer["network_summary"] = rows_json(fill(summary_columns(), summaries(v.networks)));
        answer["network_memory"] = rows_json(memory_networks_table(v.networks));
    }
    if (v.split == "device") answer["regret"] = rows_json(regrets_table(v.device_regrets));
    if (v.split == "clock") {
        answer["networks"] = rows_json(clock_forecasts_table(v.clocks.networks));
        answer["regret"] = rows_json(regrets_table(v.clocks.regrets));
        answer["chances"] = rows_json(clock_chances_table(clock_chances(v.clocks.networks)));
        for (const Accuracy& line : all_accuracies(v)) {
            if (line.model != "joulecast" || line.family != "all") continue;
            if (line.metric == "time_s") mape["time"] = line.mape;
            if (line.metric == "energy_j") mape["energy"] = line.mape;
        }
    }
    answer["clock_regret"] = rows_json(regrets_table(network_clock_regrets(v.networks)));
    answer["network_mape"] = mape;
    answer["ratio_summary"] = rows_json(ratio_summary_table(v.ratios));
    answer["ratios"] = rows_json(ratios_table(v.ratios));
    answer["composition"] = rows_json(compositions_table(v.compositions));
    answer["network_baselines"] = rows_json(baseline_networks_table(v.baselines));
    return printed(answer);
}

std::string to_csv(const Validated& v) {
    if (v.split == "clock") return clock_forecasts_csv(v.clocks.networks);
    return v.split == "network" ? joulecast::to_csv(fill(network_columns(), v.networks))
                                : joulecast::to_csv(fill(accuracy_columns(), all_accuracies(v)));
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
    file.write(joulecast::to_csv(fill(columns, rows)));
}

}  // namespace joulecast::cli
