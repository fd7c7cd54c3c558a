#include <array>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/json_tree.h"
#include "cli/own_options.h"
#include "cli/picture.h"
#include "cli/report_pages.h"
#include "cli/report_pdf.h"
#include "cli/report_runs.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

constexpr std::array formats = {"html", "pdf", "table", "json", "csv"};

/// As --format says, or the end of the file's name; else a page, or of outliers a table.
std::string format_of(const ReportOptions& options) {
    if (!options.format.empty()) return options.format;
    for (const char* format : formats) {
        if (options.output.ends_with(std::string(".") + format)) return format;
    }
    return options.outliers ? "table" : "html";
}

bool is_page(const ReportOptions& options) {
    return format_of(options) == "html" || format_of(options) == "pdf";
}

/// Before anything is computed.
void check_report(const ReportOptions& options) {
    if (options.models.empty() && options.database.empty())
        throw UsageError("report needs a MODEL and --device, or a database of measurements: --db FILE");
    if (options.outliers && options.database.empty())
        throw UsageError("--outliers needs a database of measured times: --db FILE");
    if (!options.runs.empty() && (!options.devices.empty() || !options.database.empty()))
        throw UsageError("a report of files of forecasts has no --device and no --db: the files say on what they are");
    if (!options.models.empty() && options.runs.empty() && options.devices.empty() && !options.outliers)
        throw UsageError("report needs the device of the networks: --device ID. joulecast devices lists them");
    if (!options.clocks.empty() && (options.models.empty() || options.outliers))
        throw UsageError("--clocks needs a MODEL and --device");
    if (!is_page(options)) {
        if (!options.outliers)
            throw UsageError(format_of(options) +
                             " is for --outliers; a report is a page: -o report.html or report.pdf");
        return;
    }
    if (options.output.empty()) throw UsageError("report needs a file to write: -o report.html");
    if (format_of(options) == "pdf") {
        if (const std::string why = pdf_missing_reason(); !why.empty()) throw Error(why);
    }
    if (const std::string why = picture_missing_reason(); !why.empty()) throw Error(why);
}

void write_page(const ReportOptions& options, const Page& page) {
    if (format_of(options) == "pdf")
        print_pdf(to_html(page, plotly_library()), options.output);
    else
        Output{.format = "html", .file = options.output}.write(to_html(page, packed_plotly_library()));
}

std::string in_format(const Table& table, const std::string& format) {
    if (format == "csv") return to_csv(table);
    if (format != "json") return to_text(table);
    const nlohmann::ordered_json answer = {{"schema", "joulecast.outliers/1"}, {"outliers", rows_json(table)}};
    return printed(answer);
}

constexpr const char* networks = "networks";
constexpr const char* runs = "files of forecasts";
constexpr const char* database = "a database";
constexpr const char* outliers = "--outliers";

/// What a report is of.
std::string way_of(const ReportOptions& options) {
    if (options.outliers) return outliers;
    if (!options.runs.empty()) return runs;
    return options.models.empty() ? database : networks;
}

/// Options that not every report has.
OwnOptions own_options(const CLI::App& command) {
    OwnOptions own;
    for (const char* name : {"--precision", "--memory-format", "--host", "--optimizer", "--optimizer-form",
                             "--accumulate", "--checkpointing"})
        own.add(command.get_option(name), {networks});
    for (const char* name : {"--set", "--batch", "--mode"}) own.add(command.get_option(name), {networks, outliers});
    for (const char* name : {"--predictor", "--db"}) own.add(command.get_option(name), {networks, database, outliers});
    own.add(command.get_option("--clocks"), {networks});
    for (const char* name : {"--split", "--published"}) own.add(command.get_option(name), {database});
    for (const char* name : {"--folds", "--learner"}) own.add(command.get_option(name), {database, outliers});
    return own;
}

Page page_of(const ReportOptions& options) {
    if (!options.runs.empty()) return report_runs(options);
    return options.models.empty() ? report_dataset(options) : report_forecasts(options);
}

int run_report(const ReportOptions& options) {
    check_report(options);
    if (options.outliers) {
        const OutlierReport report = report_outliers(options);
        if (is_page(options))
            write_page(options, report.page);
        else
            Output{.format = format_of(options), .file = options.output}.write(
                in_format(report.table, format_of(options)));
        return done;
    }
    write_page(options, page_of(options));
    return done;
}

}  // namespace

Run declare_report(CLI::App& command) {
    const auto options = std::make_shared<ReportOptions>();
    command.add_option(
        "MODEL", options->models,
        ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50; or .json files of forecasts, and "
        "folders of them");
    command.option_defaults()->group("Device");
    command.add_option("--device", options->devices, "ids of devices; cpu is this machine")
        ->type_name("ID...")
        ->delimiter(',');
    command
        .add_option("--clocks", options->clocks,
                    "core clocks to draw networks over: 900,1200 or 600:1440:120 (default: all)")
        ->type_name("MHZ,...");
    command.option_defaults()->group("Source of forecasts");
    command
        .add_option("--predictor", options->predictor,
                    "predictor (default: the shipped one that covers the device); with a database and no MODEL: draws "
                    "its networks over the clock")
        ->type_name("FILE.jcp");
    command.add_option("--db", options->database, "database of measurements")->type_name("FILE.db");
    options->settings.declare(command);
    options->settings.declare_hosts(command);
    options->settings.declare_training(command);
    command.option_defaults()->group("Report of a database");
    command.add_flag("--outliers", options->outliers, "show operations measured far slower than forecast");
    command.add_option("--split", options->splits, "what is held out; both: operation,network")
        ->delimiter(',')
        ->check(CLI::IsMember({"operation", "network"}))
        ->capture_default_str();
    command.add_option("--folds", options->folds, "parts to split the operations into")
        ->check(CLI::Range(2, 100))
        ->capture_default_str();
    command.add_option("--learner", options->learner, "learner to use")
        ->check(CLI::IsMember(learner_words()))
        ->capture_default_str();
    command.add_flag("--published", options->published,
                     "fit the learners of the thesis, too, for its tables 5.1 to 5.4 (takes twice as long)");
    command.option_defaults()->group("Output");
    command
        .add_option("--format", options->format,
                    "html or pdf; with --outliers also table, json, csv (default: as the end of -o says)")
        ->check(CLI::IsMember(std::vector<std::string>(formats.begin(), formats.end())));
    command
        .add_option("-o,--output", options->output,
                    "page to write: report.html, or report.pdf where Chromium is installed")
        ->type_name("FILE");
    return [options, own = own_options(command)] {
        ForecastFiles files = forecast_files(options->models);
        for (const std::string& reason : files.passed_over) tell(reason + "; passed over");
        options->runs = std::move(files.files);
        own.check("a report of " + way_of(*options), way_of(*options));
        if (!options->predictor.empty() && way_of(*options) == outliers)
            tell("--predictor is not used: measurements are compared with models that never saw them");
        if (!options->predictor.empty() && way_of(*options) == database)
            tell("--predictor draws networks over the clock; all else is compared with models that never saw it");
        return run_report(*options);
    };
}

}  // namespace joulecast::cli
