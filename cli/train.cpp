#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "cli/host_text.h"
#include "cli/measured_rows.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/predict/fit_models.h"
#include "joulecast/predict/jcp.h"
#include "joulecast/predict/physical_samples.h"
#include "joulecast/predict/pooled.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast::cli {
namespace {

/// One learned model, as a line of the table.
struct TrainedModel {
    std::string device;
    std::string math;
    const FamilyModel* model = nullptr;
};

const std::vector<Column<TrainedModel>>& columns() {
    static const std::vector<Column<TrainedModel>> list = {
        {"device", "device", Show::text, [](const TrainedModel& t) { return t.device; }},
        {"math", "math", Show::text, [](const TrainedModel& t) { return t.math; }},
        {"family", "family", Show::text, [](const TrainedModel& t) { return std::string(name(t.model->family)); }},
        {"metric", "metric", Show::text, [](const TrainedModel& t) { return std::string(name(t.model->metric)); }},
        {"rows", "rows", Show::count, [](const TrainedModel& t) { return t.model->rows; }},
        {"targets", "kinds", Show::count,
         [](const TrainedModel& t) { return static_cast<std::int64_t>(t.model->targets.size()); }},
        {"learner", "learner", Show::text, [](const TrainedModel& t) { return std::string(name(t.model->learner)); }},
    };
    return list;
}

std::vector<TrainedModel> models(const Predictor& predictor) {
    std::vector<TrainedModel> all;
    for (const DeviceModel& device : predictor.devices) {
        for (const FamilyModel& model : device.models)
            all.push_back({device.device.id, std::string(name(device.point.math)), &model});
    }
    for (const PooledModel& pooled : predictor.pooled) {
        for (const Expert& expert : pooled.experts)
            all.push_back({expert.device + ", for others", std::string(name(pooled.point.math)), &expert.model});
    }
    return all;
}

nlohmann::ordered_json to_json(const PhysicalPower& power) {
    return {{"devices", power.devices}, {"rows", power.rows},     {"still", power.still},
            {"flop", power.flop},       {"byte", power.byte},     {"matrix", power.matrix},
            {"other", power.other},     {"tensor", power.tensor}, {"half_width", power.half_width}};
}

nlohmann::ordered_json to_json(const Predictor& predictor, const std::string& path, std::uintmax_t bytes) {
    nlohmann::ordered_json answer{{"schema", "joulecast.training/1"}, {"predictor", path}, {"bytes", bytes}};
    answer["models"] = nlohmann::ordered_json::parse(joulecast::to_json(fill(columns(), models(predictor))));
    if (!predictor.devices.empty()) answer["physical_power"] = to_json(predictor.devices.front().physical_power);
    answer["devices"] = nlohmann::ordered_json::array();
    for (const DeviceModel& device : predictor.devices) {
        nlohmann::ordered_json one{{"device", device.device.id},      {"math", name(device.point.math)},
                                   {"threads", device.point.threads}, {"laws", device.laws.size()},
                                   {"networks", device.networks},     {"sigma_network", device.sigma_network}};
        one["network_factors"] = nlohmann::ordered_json::object();
        for (const NetworkCorrection& correction : device.corrections) {
            one["network_factors"][correction.key] = correction.factor;
            one["network_host_factors"][correction.key] = correction.host_factor;
            one["network_energy_factors"][correction.key] = correction.energy_factor;
        }
        one["host"] = name(device.point.host);
        one["hosts"] = nlohmann::ordered_json::array();
        for (const HostExtra& extra : device.hosts)
            one["hosts"].push_back({{"host", name(extra.host)},
                                    {"mode", name(extra.mode)},
                                    {"seconds_per_call", extra.seconds_per_call},
                                    {"sigma", extra.sigma},
                                    {"networks", extra.networks}});
        if (device.power.known()) one["idle_power_w"] = device.power.idle_w;
        answer["devices"].push_back(one);
    }
    answer["over_devices"] = nlohmann::ordered_json::array();
    for (const PooledModel& pooled : predictor.pooled) {
        answer["over_devices"].push_back({{"math", name(pooled.point.math)},
                                          {"devices", pooled.devices},
                                          {"rows", pooled.rows},
                                          {"watts_per_tflop", pooled.sustained.watts_per_tflop},
                                          {"sigma_common", pooled.prior.common},
                                          {"sigma_compute", pooled.prior.compute},
                                          {"sigma_memory", pooled.prior.memory},
                                          {"sigma_family", pooled.prior.of_family}});
    }
    return answer;
}

std::string to_text(const Predictor& predictor, const std::string& path, std::uintmax_t bytes) {
    std::string text = path + ": " + show(static_cast<double>(bytes), Show::bytes) + ", from " +
                       std::to_string(predictor.origin.rows) + " rows\n\n" +
                       joulecast::to_text(fill(columns(), models(predictor)));
    for (const DeviceModel& device : predictor.devices) {
        text += "\n" + device.device.id + " (" + std::string(name(device.point.math)) + ", " +
                std::to_string(device.point.threads) + " threads): ";
        text += device.networks == 0 ? "no measured networks, so their times get no correction"
                                     : std::to_string(device.networks) + " measured networks";
        for (const NetworkCorrection& correction : device.corrections) {
            text += "; " + correction.key + " x " + show(correction.factor, Show::number);
        }
        for (const HostExtra& extra : device.hosts) text += "; " + host_text(extra);
        text += "\n";
    }
    for (const PooledModel& pooled : predictor.pooled) {
        text += "\nover devices (" + std::string(name(pooled.point.math)) +
                "), for others of their kind: " + joined(pooled.devices) + "\n";
    }
    return text;
}

/// What was metered on a device, in operations and networks.
void append_power_samples(const DeviceModel& device, const MeasuredRows& rows, std::vector<PowerSample>& samples) {
    const auto of_rows = power_samples(device, rows.operations);
    samples.insert(samples.end(), of_rows.begin(), of_rows.end());
    for (const TrainingNetwork& network : rows.networks) {
        if (const auto sample = power_sample(device.device, network)) samples.push_back(*sample);
    }
}

struct Options {
    std::string database;
    std::string predictor;
    std::vector<std::string> devices;
    std::string learner = "auto";
    bool pooled_only = false;
    Output output;
};

/// One model over devices for each kind and math of which at least two devices were measured.
void train_over_devices(const std::vector<DeviceRows>& all, const TrainSettings& settings, Predictor& predictor) {
    using Kind = std::pair<Device::Kind, Math>;
    std::map<Kind, std::vector<const DeviceRows*>> kinds;
    std::map<Kind, std::set<std::string>> ids;
    for (const DeviceRows& rows : all) {
        const Kind kind(rows.device.kind, rows.setting.math);
        kinds[kind].push_back(&rows);
        ids[kind].insert(rows.device.id);
    }
    for (const auto& [kind, parts] : kinds) {
        if (ids[kind].size() < 2) continue;
        std::cerr << "training a model over " << ids[kind].size() << " devices (" << name(kind.second) << ")\n";
        predictor.pooled.push_back(train_pooled(parts, settings));
    }
}

int run(const Options& options) {
    if (!options.predictor.ends_with(".jcp")) throw UsageError("name the predictor with .jcp: -o NAME.jcp");
    const Dataset dataset(options.database, Dataset::Access::read_only);
    TrainSettings settings;
    settings.learner = parse_learner(options.learner);
    Predictor predictor;
    std::vector<OperationRow> sources;
    std::vector<PowerSample> samples;
    for (const Feature* feature : all_columns()) predictor.features.emplace_back(feature->name);
    std::vector<DeviceRows> of_devices;
    for (MeasuredRows& rows : measured_rows(dataset, options.devices)) {
        if (options.pooled_only) {
            of_devices.push_back({rows.device, rows.setting, std::move(rows.operations)});
            std::move(rows.rows.begin(), rows.rows.end(), std::back_inserter(sources));
            continue;
        }
        std::cerr << "training for " << rows.device.id << " (" << name(rows.setting.math)
                  << "): " << rows.operations.size() << " operations, " << rows.networks.size() << " networks\n";
        tell_samples(rows, candidates(settings));
        predictor.devices.push_back(train_device(rows.device, rows.setting, rows.operations, rows.networks, settings));
        append_power_samples(predictor.devices.back(), rows, samples);
        std::move(rows.rows.begin(), rows.rows.end(), std::back_inserter(sources));
        of_devices.push_back({rows.device, rows.setting, std::move(rows.operations)});
    }
    const PhysicalPower power = physical_power_from(samples);
    for (DeviceModel& device : predictor.devices) device.physical_power = power;
    train_over_devices(of_devices, settings, predictor);
    if (predictor.devices.empty() && predictor.pooled.empty())
        throw Error("a model over devices needs operations of two devices or more of one kind and math.");
    predictor.origin = origin_of(sources, "joulecast " JOULECAST_VERSION, utc_second_stamp(utc_now_s()));
    predictor.origin.seed = settings.seed;
    write_jcp(predictor, options.predictor);
    const auto bytes = std::filesystem::file_size(options.predictor);
    if (options.output.format == "json") {
        options.output.write(to_json(predictor, options.predictor, bytes).dump(2) + '\n');
    } else if (options.output.format == "csv") {
        options.output.write(to_csv(fill(columns(), models(predictor))));
    } else {
        options.output.write(to_text(predictor, options.predictor, bytes));
    }
    return done;
}

}  // namespace

Run declare_train(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    command.add_option("--db", options->database, "database of measurements")->required();
    command.add_option("-o,--predictor", options->predictor, "file to write, NAME.jcp")->required();
    command.add_option("--device", options->devices, "device ids; without, every device of the database");
    command.add_option("--learner", options->learner, "auto compares by grouped cross-validation, per family")
        ->check(CLI::IsMember(learner_words()))
        ->capture_default_str();
    command.add_flag("--pooled-only", options->pooled_only,
                     "the models over devices alone, for devices that were never measured");
    command.add_option("--format", options->output.format, "table, json or csv")
        ->check(CLI::IsMember({"table", "json", "csv"}))
        ->capture_default_str();
    return [options] { return run(*options); };
}

}  // namespace joulecast::cli
