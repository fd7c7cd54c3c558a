#include "lab/verbs/study.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/json_tree.h"
#include "cli/picture.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/measure/proportionality.h"
#include "joulecast/profile/request.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast::cli {

Calls::Calls(const StudyOptions& options)
    : supervisor_({.command = options.worker.empty() ? default_worker() : options.worker, .device = options.device}) {
    request_.operation = parse_operation(options.operation);
    request_.point.device = options.device;
    request_.point.host = Host::cpp;
    request_.settings.threads = options.threads;
    request_.point.engine = supervisor_.capabilities().engine;
    device_ = supervisor_.capabilities().device.id;
}

std::vector<Runtime> Calls::time(const std::vector<std::int64_t>& numbers, double expected_s) {
    request_.calls = numbers;
    // Ten times what it should take, and a minute for making the tensors.
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * (60 + 10 * expected_s)));
    return supervisor_.time_runs(request_, limit).runs;
}

double Calls::call_s() {
    constexpr double long_enough_s = 0.02;
    for (std::int64_t number = 1;; number *= 8) {
        const Runtime run = time({number}, long_enough_s).at(0);
        if (run.runtime_s >= long_enough_s || number * 8 > protocol::most_calls)
            return run.runtime_s / static_cast<double>(run.calls);
    }
}

namespace {

struct Fit {
    std::vector<Runtime> runs;
    Proportionality line;

    double fitted_s(std::size_t i) const { return line.offset_s + line.call_s * static_cast<double>(runs[i].calls); }
};

const std::vector<Column<Fit>>& columns() {
    const auto count = [](std::size_t number) { return Cell(static_cast<std::int64_t>(number)); };
    static const std::vector<Column<Fit>> list = {
        {"call_s", "call", Show::seconds, [](const Fit& f) { return f.line.call_s; }},
        {"offset_s", "offset", Show::seconds, [](const Fit& f) { return f.line.offset_s; }},
        {"sigma_s", "sigma", Show::seconds, [](const Fit& f) { return f.line.sigma_s; }},
        {"points", "points", Show::count, [count](const Fit& f) { return count(f.runs.size()); }},
        {"fitted", "fitted", Show::count, [count](const Fit& f) { return count(f.line.fitted); }},
        {"outlier_calls", "outlier's calls", Show::count,
         [](const Fit& f) { return f.line.largest_outlier ? Cell(f.line.largest_outlier->calls) : Cell(); }},
        {"outlier_runtime_s", "outlier", Show::seconds,
         [](const Fit& f) { return f.line.largest_outlier ? Cell(f.line.largest_outlier->runtime_s) : Cell(); }},
    };
    return list;
}

std::string points_csv(const Fit& fit) {
    std::ostringstream text;
    text.precision(9);
    text << "calls,runtime_s,fitted_s,residual_s,sigmas\n";
    for (std::size_t i = 0; i < fit.runs.size(); ++i) {
        text << fit.runs[i].calls << ',' << fit.runs[i].runtime_s << ',' << fit.fitted_s(i) << ','
             << fit.line.residual_s[i] << ',' << fit.line.residual_s[i] / fit.line.sigma_s << '\n';
    }
    return text.str();
}

PlotSeries level(double sigmas, double from, double to) {
    return {std::to_string(static_cast<int>(sigmas)) + " σ", PlotSeries::Style::dashed, {from, to}, {sigmas, sigmas}};
}

std::vector<Plot> plots(const Fit& fit, const std::string& subtitle) {
    PlotSeries measured{"measured", PlotSeries::Style::points, {}, {}};
    PlotSeries line{"fit to the 6/7 with most calls", PlotSeries::Style::line, {}, {}};
    PlotSeries distance{"distance from the fit", PlotSeries::Style::points, {}, {}};
    for (std::size_t i = 0; i < fit.runs.size(); ++i) {
        const auto calls = static_cast<double>(fit.runs[i].calls);
        measured.x.push_back(calls);
        measured.y.push_back(fit.runs[i].runtime_s);
        // What is below zero has no place on a logarithmic axis.
        const double fitted_s = fit.fitted_s(i);
        line.x.push_back(calls);
        line.y.push_back(fitted_s > 0 ? fitted_s : std::numeric_limits<double>::quiet_NaN());
        distance.x.push_back(fit.runs[i].runtime_s);
        distance.y.push_back(fit.line.residual_s[i] / fit.line.sigma_s);
    }
    Plot runtime{"Runtime against number of calls", subtitle, {"calls", "", true}, {"runtime", "s", true}, {}, {}};
    Plot sigmas{"How far from proportional", subtitle, {"runtime", "s", true}, {"distance from the fit", "σ"}, {}, {}};
    const auto [least, most] = std::minmax_element(distance.x.begin(), distance.x.end());
    for (const double sigma : {-5.0, -3.0, 3.0, 5.0}) sigmas.series.push_back(level(sigma, *least, *most));
    runtime.series = {line, measured};
    sigmas.series.push_back(distance);
    if (const auto& outlier = fit.line.largest_outlier) {
        const auto calls = static_cast<double>(outlier->calls);
        const double residual_s = outlier->runtime_s - fit.line.offset_s - fit.line.call_s * calls;
        const std::string name = "largest outlier beyond 5 σ: " + show(outlier->runtime_s, Show::seconds);
        runtime.series.push_back({name, PlotSeries::Style::emphasis, {calls}, {outlier->runtime_s}});
        sigmas.series.push_back(
            {name, PlotSeries::Style::emphasis, {outlier->runtime_s}, {residual_s / fit.line.sigma_s}});
    }
    return {runtime, sigmas};
}

}  // namespace

int study_proportionality(const StudyOptions& options) {
    const double longest_s = parse_duration(options.longest);
    Calls calls(options);
    const auto numbers = numbers_of_calls(calls.call_s(), longest_s, options.points);
    Fit fit;
    fit.runs = calls.time(numbers, longest_s * static_cast<double>(numbers.size()));
    fit.line = fit_proportionality(fit.runs);
    if (std::isnan(fit.line.call_s))
        throw Error("no line can be laid through " + std::to_string(fit.runs.size()) +
                    " points: a call lasts too long. Ask for a longer --longest, or a smaller operation");
    const Table table = fill(columns(), std::vector<Fit>{fit});
    const std::string& format = options.output.format;
    if (format == "json") {
        nlohmann::ordered_json answer = {{"schema", "joulecast.study/1"},
                                         {"study", options.study},
                                         {"operation", options.operation},
                                         {"device", calls.device()}};
        answer.update(rows_json(table).at(0));
        options.output.write(printed(answer));
    } else {
        options.output.write(format == "csv" ? to_csv(table) : to_text(table));
    }
    if (!options.csv.empty()) Output{.format = "csv", .file = options.csv}.write(points_csv(fit));
    if (!options.picture.empty())
        write_picture(options.picture, plots(fit, options.operation + " on " + calls.device()));
    return done;
}

}  // namespace joulecast::cli
