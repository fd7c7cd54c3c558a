#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "cli/choose_predictor.h"
#include "cli/clock_calibration.h"
#include "cli/clock_points.h"
#include "cli/forecast_text.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/predict/at_point.h"
#include "joulecast/predict/forecast_network.h"
#include "joulecast/predict/hosts.h"
#include "joulecast/predict/pooled.h"

namespace joulecast::cli {
namespace {

struct Options {
    std::vector<std::string> models;
    std::vector<std::string> devices;
    std::string predictor;
    std::string database;
    std::vector<std::string> set;
    std::vector<std::string> modes{"inference"};
    std::vector<std::string> precisions{"fp32"};
    std::vector<std::string> hosts{"python"};
    std::string clocks;
    std::string power_limits;
    bool per_operation = false;
    bool strict = false;
    Output output;
};

/// Operations of the database at the device and setting of the model. For a device that no model was trained on,
/// those of every host and number of threads.
MeasuredOperations measured_at(const std::string& database, const DeviceModel& model) {
    if (database.empty()) return {};
    const Dataset dataset(database, Dataset::Access::read_only);
    const auto all = dataset.operations(model.device.id);
    std::vector<OperationRow> rows;
    std::copy_if(all.begin(), all.end(), std::back_inserter(rows), [&](const OperationRow& row) {
        const OperatingPoint& real = row.measurement.real;
        const bool fits = real.threads == model.point.threads && real.host == model.point.host;
        return real.math == model.point.math && (fits || model.unseen);
    });
    if (rows.empty()) {
        std::cerr << "joulecast: " << database << " has nothing measured on " << model.device.id << " with "
                  << model.point.threads << " threads, so all times are forecasts\n";
    }
    return measured_operations(rows);
}

/// Operations of more than this many are taken that tell most.
constexpr std::size_t most_probes = 200;

/// Models over other devices learn from what the database has of this one.
void adjust(ChosenPredictor& chosen, const std::string& database) {
    if (database.empty() || !chosen.model().unseen) return;
    const std::string id = chosen.model().device.id;
    const auto all = Dataset(database, Dataset::Access::read_only).operations(id);
    const auto features = columns(chosen.predictor);
    for (DeviceModel& model : chosen.predictor.devices) {
        if (model.device.id != id || !model.unseen) continue;
        std::vector<TrainingRow> rows;
        for (const OperatingPoint& setting : settings_of(all)) {
            if (setting.math != model.point.math) continue;
            auto at_setting = training_rows_at(all, model.device, setting);
            std::move(at_setting.begin(), at_setting.end(), std::back_inserter(rows));
        }
        std::vector<const TrainingRow*> probes;
        if (rows.size() <= most_probes) {
            for (const TrainingRow& row : rows) probes.push_back(&row);
        } else {
            for (const std::size_t row : telling_rows(model, features, rows, most_probes)) probes.push_back(&rows[row]);
        }
        adjust_to(model, features, probes);
        if (const std::size_t used = model.unseen->residual.measured(); used > 0)
            std::cerr << "joulecast: the model was adjusted to " << used << " operations measured on " << id << '\n';
    }
}

/// What the database has of the device at several clocks tells how its time and power follow them.
void calibrate_clocks(ChosenPredictor& chosen, const std::string& database) {
    if (database.empty()) return;
    const Device device = chosen.model().device;
    const auto clocks = measured_clocks(Dataset(database, Dataset::Access::read_only), device);
    if (!clocks) return;
    for (DeviceModel& model : chosen.predictor.devices) {
        if (model.device.id == device.id) model.clocks = clocks;
    }
}

/// A precision with the model that learnt how the device computes it.
struct Wanted {
    Precision precision = Precision::fp32;
    const DeviceModel* model = nullptr;
};

/// Throws where the predictor's device cannot compute or be issued to so, or was measured with other matrix products
/// alone.
Wanted wanted(const std::string& word, Host host, const ChosenPredictor& chosen) {
    const Precision precision = precision_named(word);
    if (const auto why = refusal(precision, chosen.model().device.kind)) throw UsageError(*why);
    const DeviceModel* model = chosen.model_with(math_of(precision), host);
    if (!model)
        throw UsageError("precision " + word + " multiplies matrices of f32 in " +
                         std::string(name(math_of(precision))) + ", but " +
                         std::filesystem::path(chosen.path).filename().string() + " learnt " +
                         chosen.model().device.id + " with " + std::string(name(chosen.model().point.math)) +
                         ". Measure it with joulecast profile --precision " + word + " and train on that");
    if (const auto why = refusal(host, model->device, model->point.host)) throw UsageError(*why);
    return {precision, model};
}

void forecast_on(const DeviceAtClock& device, const Options& options, std::vector<Forecast>& forecasts) {
    ChosenPredictor chosen = choose_predictor(device.device, options.predictor);
    adjust(chosen, options.database);
    if (!chosen.note.empty()) std::cerr << "joulecast: " << chosen.note << '\n';
    const auto features = columns(chosen.predictor);
    std::map<const DeviceModel*, MeasuredOperations> measured;
    const auto combinations = parse_settings(options.set);
    const auto points =
        points_asked(device.asked, parse_clock_wish(options.clocks, options.power_limits), chosen.model().device);
    if (!points.empty()) calibrate_clocks(chosen, options.database);
    const auto add = [&](const Graph& graph, Mode mode, const std::string& precision, Host host) {
        const auto [precision_of_graph, model] = wanted(precision, host, chosen);
        const auto [known, is_new] = measured.try_emplace(model);
        if (is_new) known->second = measured_at(options.database, *model);
        const Graph ready = at_precision(graph, precision_of_graph, mode, model->device.kind);
        Forecast one;
        one.network = forecast_network(ready, precision, *model, features, known->second, host);
        one.network.predictor = std::filesystem::path(chosen.path).filename().string();
        one.device_name = chosen.model().device.display_name;
        one.origin = chosen.predictor.origin;
        one.note = chosen.note;
        if (points.empty()) forecasts.push_back(one);
        for (const OperatingPoint& point : points) {
            Forecast& there = forecasts.emplace_back(one);
            there.network = at_point(one.network, *model, point);
            there.clock_workloads = clock_parameters(*model).workloads;
        }
    };
    for (const std::string& model : options.models) {
        for (const SymbolValues& symbols : combinations) {
            for (const std::string& mode_name : options.modes) {
                const Mode mode = parse_mode(mode_name).value();
                const Graph graph = open_model(model, shipped_folder("zoo"), symbols, mode);
                for (const std::string& precision : options.precisions) {
                    for (const std::string& host : options.hosts) add(graph, mode, precision, parse_host(host).value());
                }
            }
        }
    }
}

int run(const Options& options) {
    std::vector<Forecast> forecasts;
    for (const std::string& device : options.devices) forecast_on(device_at_clock(device), options, forecasts);
    if (options.output.format == "json") {
        options.output.write(forecasts_to_json(forecasts));
    } else if (options.output.format == "csv") {
        options.output.write(forecasts_to_csv(forecasts, options.per_operation));
    } else {
        options.output.write(forecasts_to_text(forecasts, options.per_operation));
    }
    bool unknown = false;
    for (const Forecast& forecast : forecasts) {
        if (forecast.network.unknown_nodes == 0) continue;
        unknown = true;
        std::cerr << "joulecast: " << forecast.network.model << ": " << forecast.network.unknown_nodes
                  << " calls have no record (" << joined(forecast.network.unknown_operations)
                  << "): costed by the bytes of their inputs, so its time is a lower bound\n";
    }
    if (!unknown) return done;
    return options.strict ? failed : parts_unknown;
}

}  // namespace

Run declare_predict(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    command.add_option("MODEL", options->models, ".pt2, .onnx or .graph.json files, or names of the zoo")->required();
    command
        .add_option("--device", options->devices, "device ids, ID@SM_MHZ or ID@SM_MHZ/MEMORY_MHZ; cpu is this machine")
        ->required();
    command.add_option("--predictor", options->predictor,
                       "a .jcp file; without, the shipped one that covers the device");
    command.add_option("--db", options->database, "database whose operations count as measured");
    command.add_option("--set", options->set, "values of a symbol, as in batch=1,8,32")->allow_extra_args(false);
    command.add_option("--mode", options->modes, "inference, training, or inference,training")
        ->delimiter(',')
        ->check(CLI::IsMember({"inference", "training"}))
        ->capture_default_str();
    command.add_option("--precision", options->precisions, precision_words() + ", or several: fp32,bf16")
        ->delimiter(',')
        ->capture_default_str();
    command.add_option("--host", options->hosts, "who issues the operations: python, cpp, graph, or several")
        ->delimiter(',')
        ->check(CLI::IsMember({"python", "cpp", "graph", "compiled"}))
        ->capture_default_str();
    command.add_option("--clocks", options->clocks, "SM clocks in MHz: current, all, 900,1200 or 600:1440:120");
    command.add_option("--power-limits", options->power_limits, "power limits in W: 100,150 or 100:250:25");
    command.add_flag("--per-operation", options->per_operation, "show where the time goes");
    command.add_flag("--strict", options->strict, "fail when parts are unknown");
    options->output.declare(command);
    return [options] { return run(*options); };
}

}  // namespace joulecast::cli
