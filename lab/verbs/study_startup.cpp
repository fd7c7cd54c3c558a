#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/json_tree.h"
#include "cli/picture.h"
#include "joulecast/error.h"
#include "joulecast/measure/meter_log.h"
#include "joulecast/measure/trace.h"
#include "joulecast/meter/open_meter.h"
#include "joulecast/meter/replay.h"
#include "joulecast/meter/time_source.h"
#include "joulecast/profile/request.h"
#include "joulecast/units/statistics.h"
#include "lab/studies/startup.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

constexpr double look_every_s = 0.02;
constexpr double shortest_span_s = 0.5;  ///< of a recorded trace; what is shorter is noise

struct Traced {
    PowerTrace trace;
    std::string meter;
    std::string device;
};

/// Rests and runs by power alone: above or below the middle between its 5 % and 95 % quantiles.
std::vector<PowerSpan> spans_of(const std::vector<PowerSample>& samples) {
    std::vector<double> power_w;
    for (const PowerSample& sample : samples) power_w.push_back(sample.power_w);
    const double middle_w = (quantile(power_w, 0.05) + quantile(power_w, 0.95)) / 2;
    std::vector<PowerSpan> spans;
    for (const PowerSample& sample : samples) {
        const bool running = sample.power_w > middle_w;
        if (spans.empty() || spans.back().running != running) {
            // The last span was too short to be one.
            if (!spans.empty() && sample.time_s - spans.back().start_s < shortest_span_s) spans.pop_back();
            if (spans.empty() || spans.back().running != running)
                spans.push_back({running, sample.time_s, sample.time_s});
        }
        spans.back().end_s = sample.time_s;
    }
    return spans;
}

Traced recorded(const std::string& file) {
    std::ifstream input(file, std::ios::binary);
    if (!input) throw Error("cannot read '" + file + "'. Check the path and its permissions.");
    const Trace log = read_trace(input, file);
    std::vector<MeterReading> readings;
    const bool counts = log.power_w.empty();
    for (std::size_t i = 0; i < log.power_w.size(); ++i)
        readings.push_back({log.power_time_s[i], std::numeric_limits<double>::quiet_NaN(), log.power_w[i]});
    if (counts) {
        for (std::size_t i = 0; i < log.energy_j.size(); ++i)
            readings.push_back({log.energy_time_s[i], log.energy_j[i], std::numeric_limits<double>::quiet_NaN()});
    }
    Traced traced{{power_samples(readings, counts), {}}, file, ""};
    if (traced.trace.samples.empty()) throw Error("the power log " + file + " holds no power");
    traced.trace.spans = spans_of(traced.trace.samples);
    return traced;
}

Traced measured(const StudyOptions& options) {
    const double run_s = parse_duration(options.run);
    const double rest_s = options.rest == "0" || options.rest == "0s" ? 0 : parse_duration(options.rest);
    MeterRequest request;
    request.name = options.meter;
    request.for_gpu = options.device.starts_with("cuda");
    const auto colon = options.device.find(':');
    if (request.for_gpu && colon != std::string::npos) request.gpu = options.device.substr(colon + 1);
    FoundMeter found = open_meter(request);
    if (!found.meter)
        throw Error("no power can be traced: " + found.missing_reason +
                    ". A recorded trace can be shown with --power-log FILE");
    Calls calls(options);
    const double call_s = calls.call_s();
    const auto number = static_cast<std::int64_t>(std::max(1.0, std::min(run_s / call_s, 1e9)));
    Traced traced{{}, found.meter->facts().name, calls.device()};
    MeterLog log(*found.meter, look_every_s);
    const auto rest = [&] {
        const double start_s = steady_seconds();
        if (rest_s <= 0) return;
        std::this_thread::sleep_for(std::chrono::duration<double>(rest_s));
        traced.trace.spans.push_back({false, start_s, steady_seconds()});
    };
    for (std::size_t i = 0; i < options.runs; ++i) {
        rest();
        const double start_s = steady_seconds();
        calls.time({number}, run_s);
        traced.trace.spans.push_back({true, start_s, steady_seconds()});
    }
    rest();
    log.stop(0.5);
    if (!log.lost().empty()) throw Error("the meter was lost: " + log.lost());
    traced.trace.samples = power_samples(log.readings(), found.meter->facts().counts_energy);
    return traced;
}

double origin_s(const PowerTrace& trace) {
    return trace.spans.empty() ? 0 : trace.spans.front().start_s;
}

std::string points_csv(const PowerTrace& trace) {
    std::ostringstream text;
    text.precision(9);
    text << "time_s,power_w,run,run_time_s\n";
    for (const PowerSample& sample : trace.samples) {
        text << sample.time_s - origin_s(trace) << ',' << sample.power_w << ',';
        int run = 0;
        const PowerSpan* within = nullptr;
        for (const PowerSpan& span : trace.spans) {
            if (span.running && within == nullptr) ++run;
            if (span.running && sample.time_s >= span.start_s && sample.time_s < span.end_s) within = &span;
        }
        if (within == nullptr)
            text << "0,\n";
        else
            text << run << ',' << sample.time_s - within->start_s << '\n';
    }
    return text.str();
}

std::vector<Plot> plots(const Traced& traced, const std::string& subtitle) {
    Plot whole{"Power at rest and while running", subtitle, {"time", "s"}, {"power", "W"}, {}, {}};
    PlotSeries power{traced.meter, PlotSeries::Style::line, {}, {}};
    for (const PowerSample& sample : traced.trace.samples) {
        power.x.push_back(sample.time_s - origin_s(traced.trace));
        power.y.push_back(sample.power_w);
    }
    whole.series = {power};
    for (const PowerSpan& span : traced.trace.spans) {
        whole.bands.push_back({span.running ? "run" : "rest", span.start_s - origin_s(traced.trace),
                               span.end_s - origin_s(traced.trace)});
    }
    Plot overlaid{
        "The runs laid over one another", subtitle, {"time since the start of the run", "s"}, {"power", "W"}, {}, {}};
    std::size_t number = 0;
    for (const auto& run : overlaid_runs(traced.trace)) {
        PlotSeries& series = overlaid.series.emplace_back();
        series.name = "run " + std::to_string(++number);
        for (const PowerSample& sample : run) {
            series.x.push_back(sample.time_s);
            series.y.push_back(sample.power_w);
        }
    }
    return {whole, overlaid};
}

struct Line {
    std::int64_t run = 0;
    double settled_after_s = std::numeric_limits<double>::quiet_NaN();
    double steady_w = std::numeric_limits<double>::quiet_NaN();
    double sigma_w = std::numeric_limits<double>::quiet_NaN();
};

const std::vector<Column<Line>>& columns() {
    static const std::vector<Column<Line>> list = {
        {"run", "run", Show::count, [](const Line& l) { return l.run; }},
        {"settled_after_s", "settled after", Show::seconds, [](const Line& l) { return l.settled_after_s; }},
        {"steady_w", "steady", Show::watts, [](const Line& l) { return l.steady_w; }},
        {"sigma_w", "sigma", Show::watts, [](const Line& l) { return l.sigma_w; }},
    };
    return list;
}

using Json = nlohmann::ordered_json;

std::string answer_json(const StudyOptions& options, const Traced& traced, const Startup& startup) {
    Json answer = {{"schema", "joulecast.study/1"},
                   {"study", options.study},
                   {"operation", nullptr},
                   {"device", nullptr},
                   {"meter", traced.meter}};
    if (options.power_log.empty()) {
        answer["operation"] = options.operation;
        answer["device"] = traced.device;
    }
    answer["steady_w"] = number_or_null(startup.steady_w);
    answer["sigma_w"] = number_or_null(startup.sigma_w);
    answer["runs"] = Json::array();
    for (const double settled_s : startup.settled_after_s)
        answer["runs"].push_back({{"settled_after_s", number_or_null(settled_s)}});
    return printed(answer);
}

}  // namespace

int study_startup(const StudyOptions& options) {
    const Traced traced = options.power_log.empty() ? measured(options) : recorded(options.power_log);
    const Startup startup = summarise_startup(traced.trace);
    std::vector<Line> lines;
    for (const double settled_s : startup.settled_after_s)
        lines.push_back({static_cast<std::int64_t>(lines.size()) + 1, settled_s, startup.steady_w, startup.sigma_w});
    const Table table = fill(columns(), lines);
    const std::string& format = options.output.format;
    options.output.write(format == "json"  ? answer_json(options, traced, startup)
                         : format == "csv" ? to_csv(table)
                                           : to_text(table));
    if (!options.csv.empty()) Output{.format = "csv", .file = options.csv}.write(points_csv(traced.trace));
    if (!options.picture.empty()) {
        const std::string subtitle =
            options.power_log.empty() ? options.operation + " on " + traced.device : "recorded in " + options.power_log;
        write_picture(options.picture, plots(traced, subtitle));
    }
    return done;
}

}  // namespace joulecast::cli
