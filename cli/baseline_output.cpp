#include "cli/baseline_output.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "cli/known.h"
#include "joulecast/report/table.h"
#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

const std::vector<Column<BaselineGap>>& gap_columns() {
    using G = BaselineGap;
    static const std::vector<Column<G>> list = {
        {"model", "model", Show::text, [](const G& g) { return g.model; }},
        {"metric", "metric", Show::text, [](const G& g) { return g.metric; }},
        {"device", "device", Show::text, [](const G& g) { return g.device; }},
        {"rows", "without", Show::count, [](const G& g) { return g.rows; }},
        {"rows_in_all", "rows", Show::count, [](const G& g) { return g.rows_in_all; }},
        {"reason", "reason", Show::text, [](const G& g) { return g.reason; }},
    };
    return list;
}

const std::vector<Column<BaselineNetwork>>& network_columns() {
    using N = BaselineNetwork;
    static const std::vector<Column<N>> list = {
        {"model", "model", Show::text, [](const N& n) { return n.model; }},
        {"network", "network", Show::text, [](const N& n) { return n.network; }},
        {"device", "device", Show::text, [](const N& n) { return n.device; }},
        {"mode", "mode", Show::text, [](const N& n) { return std::string(name(n.mode)); }},
        {"precision", "precision", Show::text, [](const N& n) { return n.precision; }},
        {"measured_time_s", "measured", Show::seconds, [](const N& n) { return known(n.measured_time_s); }},
        {"predicted_time_s", "forecast", Show::seconds, [](const N& n) { return known(n.predicted_time_s); }},
        {"measured_energy_j", "measured", Show::joules, [](const N& n) { return known(n.measured_energy_j); }},
        {"predicted_energy_j", "forecast", Show::joules, [](const N& n) { return known(n.predicted_energy_j); }},
        {"calls", "calls", Show::count, [](const N& n) { return n.calls; }},
        {"calls_without_forecast", "without", Show::count, [](const N& n) { return n.calls_without_forecast; }},
        {"reason", "reason", Show::text, [](const N& n) { return n.reason; }},
    };
    return list;
}

/// One method on the networks of one mode and precision.
struct Summary {
    std::string model;
    std::string mode;
    std::string precision;
    std::int64_t networks = 0;
    std::vector<double> time, energy;
    double calls = 0;
    double without = 0;
};

std::vector<Summary> summaries(const std::vector<BaselineNetwork>& networks) {
    std::vector<Summary> summaries;
    for (const BaselineNetwork& n : networks) {
        const std::string mode(name(n.mode));
        auto at = std::find_if(summaries.begin(), summaries.end(), [&](const Summary& s) {
            return s.model == n.model && s.mode == mode && s.precision == n.precision;
        });
        if (at == summaries.end()) {
            Summary fresh;
            fresh.model = n.model;
            fresh.mode = mode;
            fresh.precision = n.precision;
            at = summaries.insert(summaries.end(), fresh);
        }
        ++at->networks;
        at->calls += static_cast<double>(n.calls);
        at->without += static_cast<double>(n.calls_without_forecast);
        const double time = std::abs(n.predicted_time_s / n.measured_time_s - 1);
        const double energy = std::abs(n.predicted_energy_j / n.measured_energy_j - 1);
        if (std::isfinite(time)) at->time.push_back(time);
        if (std::isfinite(energy)) at->energy.push_back(energy);
    }
    return summaries;
}

const std::vector<Column<Summary>>& summary_columns() {
    using S = Summary;
    static const std::vector<Column<S>> list = {
        {"model", "model", Show::text, [](const S& s) { return s.model; }},
        {"mode", "mode", Show::text, [](const S& s) { return s.mode; }},
        {"precision", "precision", Show::text, [](const S& s) { return s.precision; }},
        {"networks", "networks", Show::count, [](const S& s) { return s.networks; }},
        {"time_mape", "time MAPE", Show::percent, [](const S& s) { return known(mean(s.time)); }},
        {"time_median_ape", "median", Show::percent, [](const S& s) { return known(median(s.time)); }},
        {"energy_mape", "energy MAPE", Show::percent, [](const S& s) { return known(mean(s.energy)); }},
        {"energy_median_ape", "median", Show::percent, [](const S& s) { return known(median(s.energy)); }},
        {"calls_without_forecast", "calls without", Show::percent,
         [](const S& s) { return s.calls > 0 ? known(s.without / s.calls) : Cell(); }},
    };
    return list;
}

std::string reasons_text(const std::vector<BaselineNetwork>& networks) {
    std::string text;
    std::set<std::string> told;
    for (const BaselineNetwork& n : networks) {
        if (n.reason.empty() || !told.insert(n.model).second) continue;
        text += n.model + ": calls without a forecast are not in its sums: " + n.reason + "\n";
    }
    return text;
}

}  // namespace

std::string gaps_text(const std::vector<OutOfFoldRow>& rows) {
    std::string text;
    for (const BaselineGap& gap : baseline_gaps(rows)) {
        text += gap.model + " (" + gap.metric + ", " + gap.device + "): no forecast for " + std::to_string(gap.rows) +
                " of " + std::to_string(gap.rows_in_all) + " rows: " + gap.reason + "\n";
    }
    return text.empty() ? text : "\n" + text;
}

Table gaps_table(const std::vector<OutOfFoldRow>& rows) {
    return fill(gap_columns(), baseline_gaps(rows));
}

std::string networks_only_reason(const NetworkBaseline& method) {
    return std::string(method.name) + " forecasts whole networks: only with --split network";
}

std::string networks_only_text(std::span<const NetworkBaseline* const> methods) {
    std::string text;
    for (const NetworkBaseline* method : methods) text += networks_only_reason(*method) + "\n";
    return text;
}

std::string baseline_networks_text(const std::vector<BaselineNetwork>& networks) {
    if (networks.empty()) return "";
    return "\n" + to_text(fill(summary_columns(), summaries(networks))) + reasons_text(networks);
}

Table baseline_networks_table(const std::vector<BaselineNetwork>& networks) {
    return fill(network_columns(), networks);
}

}  // namespace joulecast::cli
