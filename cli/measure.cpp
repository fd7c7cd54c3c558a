#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/json_tree.h"
#include "cli/metered_runs.h"
#include "cli/picture.h"
#include "cli/verb.h"
#include "joulecast/dataset/csv.h"
#include "joulecast/error.h"
#include "joulecast/meter/open_meter.h"
#include "joulecast/profile/request.h"
#include "joulecast/report/plot.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast::cli {
namespace {

struct MeasureOptions {
    std::vector<std::string> command;
    std::vector<std::string> meters;
    std::string idle = "3s";
    int repeats = 1;
    double period_s = 0.05;
    std::string trace;
    std::string picture;
    bool require_energy = false;
    Output output;
};

/// A line of the answer: one meter, or the time alone where there is none.
struct Line {
    std::size_t runs = 0;
    Repeated time_s;
    double cpu_s = std::numeric_limits<double>::quiet_NaN();           ///< mean of the runs
    double peak_rss_bytes = std::numeric_limits<double>::quiet_NaN();  ///< greatest of the runs
    MeterResult meter;
    std::int64_t status = 0;
};

Cell text_or_none(const std::string& text) {
    return text.empty() ? Cell() : Cell(text);
}

const std::vector<Column<Line>>& run_columns() {
    static const std::vector<Column<Line>> list = {
        {"meter", "meter", Show::text, [](const Line& l) { return text_or_none(l.meter.meter); }},
        {"runs", "runs", Show::count, [](const Line& l) { return Cell(static_cast<std::int64_t>(l.runs)); }},
        {"time_s", "time", Show::seconds, [](const Line& l) { return l.time_s.mean; }},
        {"time_half_width_s", "±", Show::seconds, [](const Line& l) { return l.time_s.half_width; }},
        {"energy_j", "energy", Show::joules, [](const Line& l) { return l.meter.energy_j.mean; }},
        {"energy_half_width_j", "±", Show::joules, [](const Line& l) { return l.meter.energy_j.half_width; }},
        {"dynamic_energy_j", "above idle", Show::joules, [](const Line& l) { return l.meter.dynamic_energy_j.mean; }},
        {"power_w", "power", Show::watts, [](const Line& l) { return l.meter.power_w; }},
        {"peak_power_w", "peak", Show::watts, [](const Line& l) { return l.meter.peak_power_w; }},
        {"idle_power_w", "idle", Show::watts, [](const Line& l) { return l.meter.idle_power_w; }},
        {"cpu_s", "CPU time", Show::seconds, [](const Line& l) { return l.cpu_s; }},
        {"peak_rss_bytes", "memory", Show::bytes, [](const Line& l) { return l.peak_rss_bytes; }},
        {"status", "status", Show::count, [](const Line& l) { return l.status; }},
    };
    return list;
}

std::vector<Line> lines(const MeteredRuns& metered) {
    Line line;
    std::vector<double> time_s;
    double cpu_s = 0;
    for (const ForegroundRun& run : metered.runs) {
        time_s.push_back(run.end_s - run.start_s);
        cpu_s += run.cpu_s;
        if (!(line.peak_rss_bytes >= run.peak_rss_bytes)) line.peak_rss_bytes = run.peak_rss_bytes;
        line.status = run.status;
    }
    line.runs = metered.runs.size();
    line.time_s = repeated(time_s);
    line.cpu_s = cpu_s / static_cast<double>(metered.runs.size());
    std::vector<Line> list;
    for (const MeterResult& meter : metered.meters) {
        list.push_back(line);
        list.back().meter = meter;
    }
    if (list.empty()) list.push_back(line);
    return list;
}

using Json = nlohmann::ordered_json;

Json run_json(const MeteredRuns& metered, std::size_t index) {
    const ForegroundRun& run = metered.runs[index];
    Json json = {{"start_s", run.start_s - metered.runs.front().start_s},
                 {"time_s", run.end_s - run.start_s},
                 {"cpu_s", run.cpu_s},
                 {"peak_rss_bytes", run.peak_rss_bytes},
                 {"status", run.status},
                 {"energy_j", Json::object()}};
    for (const MeterResult& meter : metered.meters) {
        if (index < meter.runs.size()) json["energy_j"][meter.meter] = number_or_null(meter.runs[index].energy_j);
    }
    return json;
}

std::string answer_json(const MeasureOptions& options, const MeteredRuns& metered, const Table& table,
                        const std::string& started_at) {
    Json answer = {{"schema", "joulecast.measure/1"},
                   {"command", options.command},
                   {"started_at", started_at},
                   {"interrupted", metered.interrupted},
                   {"idle_s", metered.idle_end_s - metered.idle_start_s}};
    answer["meters"] = rows_json(table);
    for (std::size_t i = 0; i < metered.meters.size(); ++i) {
        Json& json = answer["meters"][i];
        const MeterResult& meter = metered.meters[i];
        json["dynamic_energy_half_width_j"] = number_or_null(meter.dynamic_energy_j.half_width);
        json["covers"] = meter.covers;
        json["gain_error"] = number_or_null(meter.gain_error);
        json["energy_missing_reason"] = meter.missing_reason;
    }
    answer["runs"] = Json::array();
    for (std::size_t i = 0; i < metered.runs.size(); ++i) answer["runs"].push_back(run_json(metered, i));
    return printed(answer);
}

/// The moment from which traces count: the start of the first run.
double origin_s(const MeteredRuns& metered) {
    return metered.runs.empty() ? metered.idle_end_s : metered.runs.front().start_s;
}

/// Which run a moment belongs to, from 1; 0: none.
std::size_t run_at(const MeteredRuns& metered, double time_s) {
    for (std::size_t i = 0; i < metered.runs.size(); ++i) {
        if (time_s >= metered.runs[i].start_s && time_s <= metered.runs[i].end_s) return i + 1;
    }
    return 0;
}

std::string trace_csv(const MeteredRuns& metered) {
    struct Sample {
        PowerSample power;
        const std::string* meter;
    };
    std::vector<Sample> samples;
    for (const MeterResult& meter : metered.meters) {
        for (const PowerSample& power : meter.power_trace) samples.push_back({power, &meter.meter});
    }
    std::stable_sort(samples.begin(), samples.end(),
                     [](const Sample& a, const Sample& b) { return a.power.time_s < b.power.time_s; });
    std::ostringstream text;
    text.precision(9);
    text << "time_s,run,meter,power_w\n";
    for (const Sample& sample : samples) {
        text << sample.power.time_s - origin_s(metered) << ',' << run_at(metered, sample.power.time_s) << ','
             << csv_field(*sample.meter) << ',' << sample.power.power_w << '\n';
    }
    return text.str();
}

std::string as_typed(const std::vector<std::string>& command) {
    std::string text;
    for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
    return text.size() > 100 ? text.substr(0, 100) + "…" : text;
}

Plot power_plot(const MeasureOptions& options, const MeteredRuns& metered) {
    Plot plot;
    plot.title = "Power while a command runs";
    plot.subtitle = as_typed(options.command);
    plot.x = {"time since the command started", "s"};
    plot.y = {"power", "W"};
    const double start_s = origin_s(metered);
    for (const MeterResult& meter : metered.meters) {
        if (meter.power_trace.empty()) continue;
        PlotSeries series{meter.meter, PlotSeries::Style::line, {}, {}};
        for (const PowerSample& sample : meter.power_trace) {
            series.x.push_back(sample.time_s - start_s);
            series.y.push_back(sample.power_w);
        }
        if (std::isfinite(meter.idle_power_w)) {
            plot.series.push_back({"idle: " + show(meter.idle_power_w, Show::watts),
                                   PlotSeries::Style::dashed,
                                   {series.x.front(), series.x.back()},
                                   {meter.idle_power_w, meter.idle_power_w}});
        }
        plot.series.push_back(std::move(series));
    }
    if (metered.idle_end_s > metered.idle_start_s)
        plot.bands.push_back({"idle", metered.idle_start_s - start_s, metered.idle_end_s - start_s});
    for (const ForegroundRun& run : metered.runs)
        plot.bands.push_back({"run", run.start_s - start_s, run.end_s - start_s});
    return plot;
}

int exit_status(const MeasureOptions& options, const MeteredRuns& metered) {
    if (metered.interrupted) return interrupted;
    if (metered.runs.back().status != 0) return metered.runs.back().status;
    const bool unknown =
        std::ranges::any_of(metered.meters, [](const MeterResult& m) { return !m.missing_reason.empty(); });
    if (!unknown) return done;
    return options.require_energy ? failed : parts_unknown;
}

void say_what_is_missing(const std::vector<MeterResult>& meters) {
    for (const MeterResult& meter : meters) {
        if (!meter.missing_reason.empty())
            std::cerr << "joulecast: no energy (meter " << meter.meter << "): " << meter.missing_reason << '\n';
    }
}

MeteredSettings checked(const MeasureOptions& options) {
    MeteredSettings settings;
    settings.command = options.command;
    settings.idle_s = options.idle == "0" || options.idle == "0s" ? 0 : parse_duration(options.idle);
    settings.repeats = options.repeats;
    settings.period_s = options.period_s;
    for (const std::string& name : options.meters) check_meter_name(name);
    return settings;
}

int measure(const MeasureOptions& options) {
    const MeteredSettings settings = checked(options);
    std::vector<NamedMeter> meters =
        open_meters(options.meters.empty() ? std::vector<std::string>{"auto"} : options.meters);
    if (options.require_energy) {
        if (meters.empty()) throw UsageError("--require-energy needs a meter: leave out --meter none");
        for (const NamedMeter& meter : meters) {
            if (!meter.meter)
                throw Error("no energy can be measured (meter " + meter.name + "): " + meter.missing_reason);
        }
    }
    if (!options.picture.empty() && !picture_missing_reason().empty())
        std::cerr << "joulecast: " << picture_missing_reason() << '\n';
    const std::string started_at = utc_time_stamp(utc_now_s());
    const MeteredRuns metered = run_metered(settings, meters);
    say_what_is_missing(metered.meters);
    const Table table = fill(run_columns(), lines(metered));
    const std::string& format = options.output.format;
    options.output.write(format == "json"  ? answer_json(options, metered, table, started_at)
                         : format == "csv" ? to_csv(table)
                                           : to_text(table));
    if (!options.trace.empty()) Output{.format = "csv", .file = options.trace}.write(trace_csv(metered));
    if (!options.picture.empty()) write_picture(options.picture, {power_plot(options, metered)});
    return exit_status(options, metered);
}

}  // namespace

Run declare_measure(CLI::App& command) {
    const auto options = std::make_shared<MeasureOptions>();
    command.option_defaults()->group("Measurement");
    command.add_option("--meter", options->meters, "auto, none, or a meter's name; may be repeated (default: auto)")
        ->type_name("METER")
        ->allow_extra_args(false);
    command.add_option("--idle", options->idle, "time to measure the idle machine before the first run; 0: not at all")
        ->type_name("TIME")
        ->capture_default_str();
    command.add_option("--repeat", options->repeats, "runs of the command")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command.add_option("--period", options->period_s, "time between two readings of a meter")
        ->type_name("S")
        ->check(CLI::Range(0.001, 60.0))
        ->capture_default_str();
    command.add_flag("--require-energy", options->require_energy, "fail if energy cannot be measured");
    command.option_defaults()->group("Output");
    command.add_option("--trace", options->trace, "write power over time as CSV")->type_name("FILE.csv");
    command.add_option("--picture", options->picture, "draw power over time")->type_name("FILE.html");
    options->output.declare(command);
    return [options] {
        options->command = other_command();
        if (options->command.empty())
            throw UsageError("measure needs a command behind --. Example: joulecast measure -- sleep 1");
        return measure(*options);
    };
}

}  // namespace joulecast::cli
