#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/choose_predictor.h"
#include "cli/report_pages.h"
#include "cli/settings.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/predict/forecast_network.h"
#include "joulecast/predict/hosts.h"
#include "joulecast/predict/train.h"
#include "joulecast/report/chapters.h"

namespace joulecast::cli {
namespace {

/// A page of more forecasts is a table, and joulecast predict prints tables.
constexpr std::size_t most_forecasts = 200;

std::string listed(const std::vector<std::string>& texts, const char* none) {
    return texts.empty() ? none : joined(texts);
}

std::string origin_text(const Origin& origin, const std::string& predictor) {
    return "Predictor " + predictor + " (" + origin.program + ", " + origin.created.substr(0, 10) + "), trained on " +
           std::to_string(origin.rows) + " rows from " + listed(origin.sources, "unknown sources") +
           "; licence of the measurements: " + (origin.licence.empty() ? "not told" : origin.licence) + ".";
}

/// The same network, sizes, mode, precision and host as the database has it; the last measurement counts.
std::optional<MeasuredCost> measured_cost(const Dataset& database, const NetworkForecast& forecast) {
    std::optional<MeasuredCost> cost;
    for (const NetworkRow& row : database.networks(forecast.device)) {
        const NetworkMeasurement& m = row.measurement;
        const bool usable = m.outcome == Outcome::ok || m.outcome == Outcome::unstable;
        const bool same = m.model == forecast.model && m.symbols == forecast.symbols && m.mode == forecast.mode &&
                          m.precision == forecast.precision && m.real.host == forecast.point.host;
        if (!usable || !same || std::isfinite(m.asked.sm_clock_mhz)) continue;
        cost = MeasuredCost{m.time.median_s, measured_joules(m), row.provenance.source + ", " + row.provenance.started};
    }
    return cost;
}

/// Forecasts on one device, one after the other.
class Reporter {
  public:
    Reporter(const ReportOptions& options, const std::string& device)
        : chosen_(choose_predictor(device, options.predictor)), columns_(columns(chosen_.predictor)) {
        if (!options.database.empty()) database_.emplace(options.database, Dataset::Access::read_only);
    }

    /// Throws UsageError for a precision or host that the device or the predictor does not have.
    ReportedForecast reported(const Graph& graph, Mode mode, const std::string& precision, Host host) const {
        const DeviceModel& model = model_for(precision, host);
        ReportedForecast one;
        one.graph = at_precision(graph, precision_named(precision), mode, model.device.kind);
        one.network = forecast_network(one.graph, precision, model, columns_, measured_at(model), host);
        one.network.predictor = std::filesystem::path(chosen_.path).filename().string();
        one.device = model.device;
        one.origin = origin_text(chosen_.predictor.origin, one.network.predictor);
        one.note = chosen_.note;
        if (database_) one.measured = measured_cost(*database_, one.network);
        return one;
    }

  private:
    const DeviceModel& model_for(const std::string& word, Host host) const {
        const Precision precision = precision_named(word);
        if (const auto why = refusal(precision, chosen_.model().device.kind)) throw UsageError(*why);
        const DeviceModel* model = chosen_.model_with(math_of(precision), host);
        if (!model)
            throw UsageError("precision " + word + " was not measured on " + chosen_.model().device.id +
                             ". Measure it with joulecast profile --precision " + word + " and train on that");
        if (const auto why = refusal(host, model->device, model->point.host)) throw UsageError(*why);
        return *model;
    }

    MeasuredOperations measured_at(const DeviceModel& model) const {
        if (!database_) return {};
        auto rows = database_->operations(model.device.id);
        std::erase_if(rows, [&](const OperationRow& row) { return !same_setting(row.measurement.real, model.point); });
        return measured_operations(rows);
    }

    ChosenPredictor chosen_;
    std::vector<const Feature*> columns_;
    std::optional<Dataset> database_;
};

void add_forecasts(const ReportOptions& options, const std::string& device, std::vector<ReportedForecast>& all) {
    const Reporter reporter(options, device);
    for (const std::string& model : options.models) {
        for (const SymbolValues& symbols : parse_settings(options.set)) {
            for (const std::string& mode_name : options.modes) {
                const Mode mode = parse_mode(mode_name).value();
                const Graph graph = open_model(model, shipped_folder("zoo"), symbols, mode);
                for (const std::string& precision : options.precisions) {
                    for (const std::string& host : options.hosts)
                        all.push_back(reporter.reported(graph, mode, precision, parse_host(host).value()));
                }
            }
        }
    }
}

std::size_t number_asked_for(const ReportOptions& options) {
    return options.models.size() * options.devices.size() * parse_settings(options.set).size() * options.modes.size() *
           options.precisions.size() * options.hosts.size();
}

}  // namespace

Page report_forecasts(const ReportOptions& options) {
    if (number_asked_for(options) > most_forecasts)
        throw UsageError("a report of " + std::to_string(number_asked_for(options)) +
                         " forecasts is too much for a page (" + std::to_string(most_forecasts) +
                         " at most). joulecast predict prints as many as are asked for");
    std::vector<ReportedForecast> all;
    for (const std::string& device : options.devices) add_forecasts(options, device, all);
    Page page = forecast_page(all);
    page.footer = "Written by joulecast " JOULECAST_VERSION ".";
    return page;
}

}  // namespace joulecast::cli
