#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/settings.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/error.h"
#include "joulecast/units/statistics.h"
#include "lab/studies/board_engines.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

/// Errors of one campaign, engine and precision; "all" is all of them.
struct Line {
    std::string campaign, engine, precision, metric;
    std::int64_t networks = 0;
    double mean = 0, middle = 0, worst = 0, summed = 0, law = 0;
};

const std::vector<Column<Line>>& error_columns() {
    static const std::vector<Column<Line>> list = {
        {"campaign", "round", Show::text, [](const Line& l) { return l.campaign; }},
        {"engine", "engine", Show::text, [](const Line& l) { return l.engine; }},
        {"precision", "precision", Show::text, [](const Line& l) { return l.precision; }},
        {"metric", "metric", Show::text, [](const Line& l) { return l.metric; }},
        {"networks", "runs", Show::count, [](const Line& l) { return l.networks; }},
        {"mape", "mean error", Show::percent, [](const Line& l) { return l.mean; }},
        {"median_ape", "median", Show::percent, [](const Line& l) { return l.middle; }},
        {"worst", "worst", Show::percent, [](const Line& l) { return l.worst; }},
        {"summed_mape", "sum of layers", Show::percent, [](const Line& l) { return l.summed; }},
        {"law_mape", "power law", Show::percent, [](const Line& l) { return l.law; }},
    };
    return list;
}

/// How the engine of least energy was chosen.
struct Policy {
    std::string campaign, name;
    std::int64_t networks = 0, right = 0;
    double regret = 0, worst = 0;
};

const std::vector<Column<Policy>>& policy_columns() {
    static const std::vector<Column<Policy>> list = {
        {"campaign", "round", Show::text, [](const Policy& p) { return p.campaign; }},
        {"chosen_by", "chosen by", Show::text, [](const Policy& p) { return p.name; }},
        {"networks", "networks", Show::count, [](const Policy& p) { return p.networks; }},
        {"right", "right", Show::count, [](const Policy& p) { return p.right; }},
        {"regret", "mean regret", Show::percent, [](const Policy& p) { return p.regret; }},
        {"worst_regret", "worst", Show::percent, [](const Policy& p) { return p.worst; }},
    };
    return list;
}

/// "mlperf v3.0 firefly-tflite-v2.11.0-ruy": its second word.
std::string campaign_of(const std::string& session) {
    const auto first = session.find(' ');
    const auto second = session.find(' ', first + 1);
    return first == std::string::npos ? session : session.substr(first + 1, second - first - 1);
}

std::vector<BoardRun> board_runs(const StudyOptions& options) {
    if (options.database.empty()) throw UsageError("this study needs a database: --db FILE");
    const Dataset dataset(options.database, Dataset::Access::read_only);
    std::vector<BoardRun> runs;
    for (const NetworkRow& row : dataset.networks()) {
        const NetworkMeasurement& m = row.measurement;
        const auto& wanted = options.devices;
        if (!wanted.empty() && std::ranges::find(wanted, m.real.device) == wanted.end()) continue;
        const auto network = mobile_network(m.model, m.precision);
        if (!network || !is_timed(m.outcome) || !m.energy) continue;
        runs.push_back(
            {campaign_of(row.provenance.session), m.real.engine, *network, m.time.mean_s, m.energy->energy_j});
    }
    return runs;
}

struct Errors {
    std::vector<double> full, summed, law;
};

std::vector<Line> error_lines(const std::vector<BoardRun>& runs, const std::vector<BoardForecast>& forecasts) {
    std::map<std::vector<std::string>, Errors> together;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const BoardForecast& told = forecasts[i];
        if (!std::isfinite(told.time_s)) continue;
        const auto add = [&](const std::string& metric, double measured, double full, double summed, double law) {
            for (const auto& key : {std::vector{runs[i].campaign, runs[i].engine, runs[i].network.precision, metric},
                                    std::vector{runs[i].campaign, std::string("all"), std::string("all"), metric}}) {
                Errors& errors = together[key];
                errors.full.push_back(std::abs(full / measured - 1.0));
                errors.summed.push_back(std::abs(summed / measured - 1.0));
                errors.law.push_back(std::abs(law / measured - 1.0));
            }
        };
        add("time", runs[i].time_s, told.time_s, told.summed_time_s, told.law_time_s);
        add("energy", runs[i].energy_j, told.energy_j, told.summed_energy_j, told.law_energy_j);
    }
    std::vector<Line> lines;
    for (const auto& [key, errors] : together)
        lines.push_back({key[0], key[1], key[2], key[3], std::ssize(errors.full), mean(errors.full),
                         median(errors.full), std::ranges::max(errors.full), mean(errors.summed), mean(errors.law)});
    return lines;
}

Policy policy(const std::string& campaign, const std::string& name, const std::vector<double>& regrets) {
    return {campaign,
            name,
            std::ssize(regrets),
            std::ranges::count(regrets, 0.0),
            regrets.empty() ? 0.0 : mean(regrets),
            regrets.empty() ? 0.0 : std::ranges::max(regrets)};
}

/// The forecasts' choice, and always one engine.
std::vector<Policy> policies(const std::vector<EngineChoice>& choices, const std::vector<std::string>& engines) {
    std::set<std::string> campaigns;
    for (const EngineChoice& choice : choices) campaigns.insert(choice.campaign);
    std::vector<Policy> list;
    for (const std::string& campaign : campaigns) {
        std::vector<double> chosen;
        std::vector<std::vector<double>> always(engines.size());
        for (const EngineChoice& choice : choices) {
            if (choice.campaign != campaign) continue;
            chosen.push_back(choice.regret);
            for (std::size_t i = 0; i < engines.size(); ++i)
                if (std::isfinite(choice.regret_of_engine[i])) always[i].push_back(choice.regret_of_engine[i]);
        }
        list.push_back(policy(campaign, "forecast energy", chosen));
        for (std::size_t i = 0; i < engines.size(); ++i)
            list.push_back(policy(campaign, "always " + engines[i], always[i]));
    }
    return list;
}

}  // namespace

int study_boards(const StudyOptions& options) {
    const std::vector<BoardRun> runs = board_runs(options);
    if (runs.empty())
        throw Error(
            "the database has no networks of boards with their energy. Import some: joulecast-lab import mlperf-power "
            "wall_power.csv --db boards.db");
    const std::vector<BoardForecast> forecasts = leave_networks_out(runs);
    std::vector<std::string> engines;
    const std::vector<EngineChoice> choices = choose_engines(runs, forecasts, engines);
    StudyResult result;
    result.tables = {{"results", "Time and energy of one sample, each network left out in all its precisions",
                      fill(error_columns(), error_lines(runs, forecasts))},
                     {"engines", "Engine of least energy: what its choice costs over the best one",
                      fill(policy_columns(), policies(choices, engines))}};
    result.notes = std::to_string(runs.size()) +
                   " runs. sum of layers: the same without what near networks were off by; power law: of the number of "
                   "multiply-adds\n";
    return write_study(options, result);
}

}  // namespace joulecast::cli
