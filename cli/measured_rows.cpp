#include "cli/measured_rows.h"

#include <algorithm>
#include <iostream>
#include <iterator>

#include "cli/device_argument.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/predict/fit_models.h"
#include "joulecast/predict/hosts.h"

namespace joulecast::cli {
namespace {

/// The model of the network's name; where none opens, the message is cut down to its first sentence.
Graph open_by_name(const NetworkMeasurement& network) {
    try {
        return open_model(network.model, shipped_folder("zoo"), network.symbols, network.mode);
    } catch (const Error& error) {
        const std::string why = error.what();
        throw Error("the database has no list of its calls, and " + why.substr(0, why.find(". ")));
    }
}

/// The database's own list of the network's calls, if it has one: that is what was measured under the name. Else the
/// model of that name. Throws for one that was issued as no operations of the setting can tell.
Graph open_measured(const Dataset& dataset, const Device& device, const OperatingPoint& setting,
                    const NetworkMeasurement& network) {
    if (const auto why = refusal(network.real.host, device, setting.host)) throw Error(*why);
    if (auto listed = dataset.listed_network(network)) return *std::move(listed);
    return at_precision(open_by_name(network), precision_named(network.precision), network.mode, device.kind);
}

MeasuredRows rows_at(const Dataset& dataset, const Device& device, const std::vector<OperationRow>& all,
                     const OperatingPoint& setting) {
    MeasuredRows found;
    found.device = device;
    found.setting = setting;
    // Only what was measured at the setting; the rest would compare other threads or other arithmetic.
    std::copy_if(all.begin(), all.end(), std::back_inserter(found.rows),
                 [&](const OperationRow& row) { return same_setting(row.measurement.real, setting); });
    found.operations = training_rows_at(found.rows, device, setting);
    const auto open = [&](const NetworkMeasurement& network) {
        return open_measured(dataset, device, setting, network);
    };
    const auto networks = measured_networks(dataset.networks(device.id), setting, open);
    found.networks = networks.networks;
    for (const auto& [model, why] : networks.left_out) {
        std::cerr << "joulecast: measured network " << model << " is left out: " << why << '\n';
    }
    found.measured = measured_operations(found.rows);
    return found;
}

std::string describe(const OperatingPoint& setting) {
    return std::string(name(setting.math)) + " math, host " + std::string(name(setting.host)) + ", " +
           std::to_string(setting.threads) + " threads";
}

/// A network whose host has a setting of its own among these is told by that.
void keep_networks_apart(std::vector<MeasuredRows>& settings) {
    for (MeasuredRows& one : settings) {
        const auto belongs_elsewhere = [&](const TrainingNetwork& network) {
            OperatingPoint own = one.setting;
            own.host = network.measurement.real.host;
            return std::ranges::any_of(settings, [&](const MeasuredRows& other) {
                return &other != &one && same_setting(other.setting, own);
            });
        };
        std::erase_if(one.networks, belongs_elsewhere);
    }
}

/// Of every setting that is worth a model.
void add_rows(const Dataset& dataset, const Device& device, const std::vector<OperationRow>& rows,
              const SettingsOf& settings_of_models, std::vector<MeasuredRows>& all) {
    const auto settings = settings_of_models ? settings_of_models(device.id) : settings_of(rows);
    if (settings.empty()) throw Error("the database has no usable operation measured on " + device.id + ".");
    std::vector<MeasuredRows> of_device;
    for (const OperatingPoint& setting : settings) {
        MeasuredRows found = rows_at(dataset, device, rows, setting);
        const bool is_main = &setting == &settings.front();
        if (!settings_of_models && !is_main && found.operations.size() < least_rows_of_setting) {
            std::cerr << "joulecast: left out " << found.operations.size() << " operations of " << device.id
                      << " measured with " << describe(setting) << ": too few for a model of their own\n";
            continue;
        }
        if (found.operations.empty() && found.networks.empty()) continue;
        of_device.push_back(std::move(found));
    }
    keep_networks_apart(of_device);
    std::move(of_device.begin(), of_device.end(), std::back_inserter(all));
}

}  // namespace

std::vector<MeasuredRows> measured_rows(const Dataset& dataset, const std::vector<std::string>& devices,
                                        const SettingsOf& settings_of) {
    const auto known = dataset.devices();
    std::vector<std::string> ids;
    for (const Device& device : known) ids.push_back(device.id);
    std::vector<MeasuredRows> all;
    if (devices.empty()) {
        for (const Device& device : known) {
            const bool networks_will_do = settings_of && !dataset.networks(device.id).empty();
            const auto rows = dataset.operations(device.id);
            if (!networks_will_do && rows.empty()) continue;
            add_rows(dataset, device, rows, settings_of, all);
        }
        if (all.empty()) throw Error("the database has no measured operations. Measure some: joulecast profile --help");
        return all;
    }
    for (const std::string& asked : devices) {
        const auto named = [&](const std::string& id) {
            return std::find_if(known.begin(), known.end(), [&](const Device& d) { return d.id == id; });
        };
        const std::string id = asked == "cpu" ? this_cpu().id : asked;
        auto device = named(id);
        // Not called so in the database: another name of one that it has?
        if (const DataSheet* sheet = device == known.end() ? known_devices().find(id) : nullptr) {
            device = named(sheet->device.id);
            if (device != known.end()) std::cerr << "joulecast: " << meant_by(id, sheet->device) << '\n';
        }
        if (device == known.end()) {
            throw Error("the database has nothing measured on " + id + ". It has: " + joined(ids) + ".");
        }
        add_rows(dataset, *device, dataset.operations(device->id), settings_of, all);
    }
    return all;
}

void tell_samples(const MeasuredRows& rows, std::span<const Learner> learners) {
    for (const SampledPart& part : sampled_parts(rows.operations, learners)) {
        std::cerr << "joulecast: " << name(part.learner) << " learns " << name(part.metric) << " of "
                  << name(part.family) << " on " << rows.device.id << " from at most " << part.learned << " of "
                  << part.rows << " rows, drawn by seed: its cost grows with their square\n";
    }
}

}  // namespace joulecast::cli
