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
/// model of that name.
Graph open_measured(const Dataset& dataset, Device::Kind kind, const NetworkMeasurement& network) {
    if (auto listed = dataset.listed_network(network)) return *std::move(listed);
    return at_precision(open_by_name(network), precision_named(network.precision), network.mode, kind);
}

MeasuredRows rows_of(const Dataset& dataset, const Device& device, const SettingOf& setting_of) {
    MeasuredRows found;
    found.device = device;
    found.rows = dataset.operations(device.id);
    if (found.rows.empty() && setting_of) {
        found.setting = setting_of(device.id);
    } else {
        found.operations = training_rows(found.rows, device, found.setting);
    }
    const auto open = [&](const NetworkMeasurement& network) { return open_measured(dataset, device.kind, network); };
    const auto networks = measured_networks(dataset.networks(device.id), found.setting, open);
    found.networks = networks.networks;
    for (const auto& [model, why] : networks.left_out) {
        std::cerr << "joulecast: measured network " << model << " is left out: " << why << '\n';
    }
    // Only what was measured at the setting; the rest would compare other threads.
    std::vector<OperationRow> at_setting;
    std::copy_if(found.rows.begin(), found.rows.end(), std::back_inserter(at_setting), [&](const OperationRow& row) {
        return row.measurement.real.threads == found.setting.threads &&
               row.measurement.real.math == found.setting.math && row.measurement.real.host == found.setting.host;
    });
    found.measured = measured_operations(at_setting);
    return found;
}

}  // namespace

std::vector<MeasuredRows> measured_rows(const Dataset& dataset, const std::vector<std::string>& devices,
                                        const SettingOf& setting_of) {
    const auto known = dataset.devices();
    std::vector<std::string> ids;
    for (const Device& device : known) ids.push_back(device.id);
    std::vector<MeasuredRows> all;
    if (devices.empty()) {
        for (const Device& device : known) {
            const bool networks_will_do = setting_of && !dataset.networks(device.id).empty();
            if (!networks_will_do && dataset.operations(device.id).empty()) continue;
            all.push_back(rows_of(dataset, device, setting_of));
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
        all.push_back(rows_of(dataset, *device, setting_of));
    }
    return all;
}

}  // namespace joulecast::cli
