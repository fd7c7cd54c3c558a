#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/report_command.h"
#include "cli/report_pages.h"
#include "cli/report_runs.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/answer/session.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/error.h"
#include "joulecast/forecast/at_point.h"
#include "joulecast/physics/clock_curve.h"
#include "joulecast/profile/clock_settings.h"
#include "joulecast/report/chapters.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast::cli {
namespace {

/// More points than this on a curve tell nothing more.
constexpr std::size_t most_clocks = 60;
/// A page of more forecasts is a table, and joulecast predict prints tables.
constexpr std::size_t most_forecasts = 200;
constexpr std::size_t most_commands = 20;

std::string listed(const std::vector<std::string>& texts, const char* none) {
    return texts.empty() ? none : joined(texts);
}

std::string origin_text(const Origin& origin, const std::string& predictor) {
    return "Predictor " + predictor + " (" + origin.program + ", " + origin.created.substr(0, 10) + "), trained on " +
           std::to_string(origin.rows) + " rows from " + listed(origin.sources, "unknown sources") +
           "; licence of the measurements: " + (origin.licence.empty() ? "not told" : origin.licence) + ".";
}

/// The same network, sizes, mode, precision, engine and host as the database has it; the last measurement counts.
std::optional<MeasuredCost> measured_cost(const Dataset& database, const NetworkForecast& forecast) {
    std::optional<MeasuredCost> cost;
    for (const NetworkRow& row : database.networks(forecast.device)) {
        const NetworkMeasurement& m = row.measurement;
        // Networks are measured as their files have them.
        const bool usable = is_timed(m.outcome) && forecast.memory_format == MemoryFormat::contiguous;
        const bool same = m.model == forecast.model && m.symbols == forecast.symbols && m.mode == forecast.mode &&
                          m.precision == forecast.precision && m.real.engine == forecast.point.engine &&
                          m.real.host == forecast.point.host;
        if (!usable || !same || std::isfinite(m.asked.sm_clock_mhz)) continue;
        cost = MeasuredCost{m.time.median_s, measured_joules(m), row.provenance.source + ", " + row.provenance.started};
    }
    return cost;
}

/// Evenly chosen ones, the first and the last among them.
std::vector<double> thinned(const std::vector<double>& clocks) {
    if (clocks.size() <= most_clocks) return clocks;
    std::vector<double> chosen;
    for (std::size_t i = 0; i < most_clocks; ++i) chosen.push_back(clocks[i * (clocks.size() - 1) / (most_clocks - 1)]);
    return chosen;
}

/// In order; none for "current", and for all of a device whose clocks are not known.
std::vector<double> drawn_clocks(const std::string& text, const Device& device) {
    const ClockWish wish = parse_clock_wish(text, "");
    std::vector<double> clocks = text.empty() || wish.all ? clock_table_mhz(device) : wish.sm_clocks_mhz;
    std::ranges::sort(clocks);
    return thinned(clocks);
}

std::string why_no_clocks(const Device& device) {
    if (device.kind == Device::Kind::cpu) return "of a CPU no other clock can be forecast";
    return "the clocks of " + device.display_name + " are not known (" + missing_for_clocks(device) + ")";
}

/// The network over the clock, or why not: clocks of one device need not be another's.
void add_clocks(ReportedForecast& reported, const std::string& text, const DeviceModel& model) {
    const std::vector<double> clocks = drawn_clocks(text, model.device);
    if (clocks.empty()) {
        if (text != "current") reported.clocks_missing_reason = why_no_clocks(model.device);
        return;
    }
    try {
        const ForecastCurve curve(reported.network, model);
        reported.default_clock_mhz = curve.at({}).real.sm_clock_mhz;
        for (const double clock : clocks) {
            OperatingPoint asked;
            asked.sm_clock_mhz = clock;
            const PointForecast at = curve.at(asked);
            reported.clocks.push_back(
                {clock, at.real.sm_clock_mhz, at.time, at.energy, at.limited_by, curve.relative_to_default(at)});
        }
    } catch (const UsageError& error) {
        reported.clocks.clear();
        reported.clocks_missing_reason = error.what();
    }
}

/// What was asked for must be on the page of one device at least.
void check_clocks(const ReportOptions& options, const std::vector<ReportedForecast>& forecasts) {
    if (options.clocks.empty() || options.clocks == "current") return;
    if (std::ranges::any_of(forecasts, [](const ReportedForecast& forecast) { return !forecast.clocks.empty(); }))
        return;
    throw UsageError("--clocks " + options.clocks.substr(0, 60) + ": " + forecasts.front().clocks_missing_reason);
}

ReportedForecast reported(Forecast forecast, const AnsweringDevice& on) {
    const LoadedDevice& device = *on.loaded;
    ReportedForecast shown;
    shown.graph = *forecast.graph;
    shown.network = std::move(forecast.network);
    shown.alive = alive_bytes(shown.network, shown.graph);
    shown.device = device.device();
    shown.origin = origin_text(device.origin(), device.predictor_name());
    shown.note = on.note;
    if (device.database()) shown.measured = measured_cost(*device.database(), shown.network);
    return shown;
}

Question question_of(const ReportOptions& options) {
    Question question;
    question.models = options.models;
    options.settings.put_in(question);
    for (const std::string& named : options.devices) question.devices.push_back({named, {}});
    question.keeps_graphs = true;
    question.wants_other_clocks = true;
    return question;
}

std::size_t number_asked_for(const ReportOptions& options) {
    return options.models.size() * options.devices.size() * options.settings.count();
}

}  // namespace

Page report_forecasts(const ReportOptions& options) {
    if (number_asked_for(options) > most_forecasts)
        throw UsageError("a report of " + std::to_string(number_asked_for(options)) +
                         " forecasts is too much for a page (" + std::to_string(most_forecasts) +
                         " at most). joulecast predict has no such limit");
    Session session(for_one_question(options.predictor, options.database));
    Answer answer = session.answer(question_of(options), tell);
    std::vector<ReportedForecast> reports;
    for (Forecast& forecast : answer.forecasts) {
        const AnsweringDevice& on = answer.devices[forecast.device];
        const DeviceModel& model = *forecast.model;
        reports.push_back(reported(std::move(forecast), on));
        add_clocks(reports.back(), options.clocks, model);
    }
    check_clocks(options, reports);
    Page page = forecast_page(reports);
    page.asked.emplace_back("date", utc_second_stamp(utc_now_s()).substr(0, 10));
    page.commands.push_back(own_command());
    page.footer = "Written by joulecast " JOULECAST_VERSION ".";
    return page;
}

Page report_runs(const ReportOptions& options) {
    ReportedRuns runs = read_runs(options.runs);
    if (runs.forecasts.size() > most_forecasts)
        throw UsageError(std::to_string(runs.forecasts.size()) + " forecasts are too much for a page (" +
                         std::to_string(most_forecasts) + " at most)");
    if (runs.forecasts.empty()) throw UsageError("the files hold no forecasts");
    Page page = forecast_page(runs.forecasts);
    page.asked.emplace_back("files", joined(options.runs));
    page.asked.emplace_back("date", utc_second_stamp(utc_now_s()).substr(0, 10));
    const std::size_t shown = std::min(runs.commands.size(), most_commands);
    page.commands.assign(runs.commands.begin(), runs.commands.begin() + static_cast<std::ptrdiff_t>(shown));
    if (shown < runs.commands.size())
        page.asked.emplace_back("further commands", std::to_string(runs.commands.size() - shown));
    page.footer = "Written by joulecast " JOULECAST_VERSION
                  " out of files of forecasts; their commands are as their "
                  "settings say.";
    return page;
}

}  // namespace joulecast::cli
