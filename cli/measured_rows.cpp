#include "cli/measured_rows.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/answer/pace_now.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/dataset/pace.h"
#include "joulecast/dataset/suspect_rows.h"
#include "joulecast/device/device_argument.h"
#include "joulecast/device/precision.h"
#include "joulecast/device/threads_text.h"
#include "joulecast/error.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/train/learn_fusion.h"

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

/// All that the database holds of a device.
struct Stored {
    Device device;
    std::vector<OperationRow> operations;
    std::vector<NetworkRow> networks;
    Pace pace;
    double pace_range = 0;
};

/// Where rows come from, and whose pace they are put to.
struct Source {
    const Dataset& dataset;
    const Dataset* paced_by = nullptr;
};

template <class Row>
void tell_pace(const std::vector<Row>& rows, const Pace& pace) {
    if (rows.empty()) return;
    const double factor = pace.median_of(rows.front().measurement.asked, rows.front().provenance);
    const std::string& device = rows.front().measurement.real.device;
    if (std::isnan(factor))
        std::cerr << "joulecast: cannot compare the speed of " << device << " in the two databases\n";
    else
        std::cerr << "joulecast: " << device << " took " << time_compared(factor)
                  << " than when the other database was measured; its times are scaled to that pace\n";
}

Stored stored_of(const Source& source, const Device& device) {
    // Databases of before profile did so may hold a device without figures.
    const auto references = source.dataset.references(device.id);
    const auto usual = source.paced_by == nullptr ? references : source.paced_by->references(device.id);
    Stored stored{with_known_figures(device), source.dataset.operations(device.id), source.dataset.networks(device.id),
                  Pace(references, usual), std::fmax(pace_range(references), pace_range(usual))};
    const Pace& pace = stored.pace;
    if (const std::string suspect = suspect_rows(stored.operations, stored.networks, references); !suspect.empty())
        std::cerr << "joulecast: " << suspect << "\n";
    if (source.paced_by != nullptr && !stored.networks.empty())
        tell_pace(stored.networks, pace);
    else if (source.paced_by != nullptr)
        tell_pace(stored.operations, pace);
    put_to_one_pace(stored.operations, pace);
    put_to_one_pace(stored.networks, pace);
    return stored;
}

/// Of rows that were all measured under the same conditions.
std::optional<PaceReference> pace_reference(const std::vector<OperationRow>& rows, const Pace& pace) {
    std::optional<PaceReference> found;
    for (const OperationRow& row : rows) {
        const auto usual = pace.usual(row.measurement.asked, row.provenance);
        if (!usual) return std::nullopt;
        if (found && *found != *usual) return std::nullopt;
        found = usual;
    }
    return found;
}

/// What was measured at the setting alone: the rest would compare other threads or other arithmetic.
MeasuredRows operations_at(const Stored& stored, const OperatingPoint& setting) {
    MeasuredRows found;
    found.device = stored.device;
    found.setting = setting;
    std::copy_if(stored.operations.begin(), stored.operations.end(), std::back_inserter(found.rows),
                 [&](const OperationRow& row) { return same_setting(row.measurement.real, setting); });
    found.operations = training_rows_at(found.rows, stored.device, setting);
    found.measured = measured_operations(found.rows, stored.device.last_level_cache_bytes);
    found.pace_range = stored.pace_range;
    found.pace_reference = pace_reference(found.rows, stored.pace);
    return found;
}

/// Devices where a measured network is left out, by its model and why.
using LeftOut = std::map<std::pair<std::string, std::string>, std::set<std::string>>;

void tell(const LeftOut& networks) {
    for (const auto& [network, devices] : networks) {
        std::cerr << "joulecast: measured network " << network.first << " is left out ("
                  << joined(std::vector(devices.begin(), devices.end())) << "): " << network.second << '\n';
    }
}

/// The networks that this setting of them tells: not those whose host has one of its own.
std::vector<TrainingNetwork> networks_of(const Dataset& dataset, const Stored& stored, const OperatingPoint& setting,
                                         const std::vector<MeasuredRows>& settings, LeftOut& left_out) {
    const auto belongs_elsewhere = [&](const NetworkRow& row) {
        OperatingPoint own = setting;
        own.host = row.measurement.real.host;
        return own.host != setting.host && std::ranges::any_of(settings, [&](const MeasuredRows& other) {
                   return same_setting(other.setting, own);
               });
    };
    std::vector<NetworkRow> rows;
    std::ranges::remove_copy_if(stored.networks, std::back_inserter(rows), belongs_elsewhere);
    auto found = measured_networks(rows, setting, [&](const NetworkMeasurement& network) {
        return open_measured(dataset, stored.device, setting, network);
    });
    for (const auto& network : found.left_out) left_out[network].insert(stored.device.id);
    return std::move(found.networks);
}

/// Kernels of two versions of an engine are not mixed.
void tell_versions(const std::vector<MeasuredRows>& sets) {
    for (const MeasuredRows& rows : sets) {
        for (const ToldNetworks& told : told_networks(rows.networks)) {
            if (!told.others.empty())
                std::cerr << "joulecast: how " << rows.setting.engine << " fuses " << told.precision
                          << " networks is learnt from " << told.framework
                          << ", which most were measured with; not from " << joined(told.others) << '\n';
        }
    }
}

std::string describe(const OperatingPoint& setting) {
    return std::string(name(setting.math)) + " math, engine " + setting.engine + ", host " +
           std::string(name(setting.host)) + ", " + threads_text(setting.threads);
}

/// Of every setting that is worth a model.
void add_rows(const Dataset& dataset, const Stored& stored, const SettingsOf& settings_of_models,
              std::vector<MeasuredRows>& sets, LeftOut& left_out) {
    const auto settings = settings_of_models ? settings_of_models(stored.device.id) : settings_of(stored.operations);
    if (settings.empty()) throw Error("the database has no usable operation measured on " + stored.device.id + ".");
    std::vector<MeasuredRows> kept;
    for (const OperatingPoint& setting : settings) {
        MeasuredRows found = operations_at(stored, setting);
        const bool is_main = &setting == &settings.front();
        if (!settings_of_models && !is_main && found.operations.size() < least_rows_of_setting) {
            std::cerr << "joulecast: left out " << found.operations.size() << " operations of " << stored.device.id
                      << " measured with " << describe(setting) << ": too few for a model of their own\n";
            continue;
        }
        kept.push_back(std::move(found));
    }
    for (MeasuredRows& rows : kept) rows.networks = networks_of(dataset, stored, rows.setting, kept, left_out);
    std::erase_if(kept, [](const MeasuredRows& rows) { return rows.operations.empty() && rows.networks.empty(); });
    std::ranges::move(kept, std::back_inserter(sets));
}

std::vector<MeasuredRows> rows_of(const Source& source, const std::vector<std::string>& devices,
                                  const SettingsOf& settings_of, LeftOut& left_out) {
    const Dataset& dataset = source.dataset;
    const auto known = dataset.devices();
    std::vector<std::string> ids;
    for (const Device& device : known) ids.push_back(device.id);
    std::vector<MeasuredRows> sets;
    if (devices.empty()) {
        for (const Device& device : known) {
            const Stored stored = stored_of(source, device);
            const bool networks_will_do = settings_of && !stored.networks.empty();
            if (!networks_will_do && stored.operations.empty()) continue;
            add_rows(dataset, stored, settings_of, sets, left_out);
        }
        if (sets.empty())
            throw Error("the database has no measured operations. Measure some: joulecast profile --help");
        return sets;
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
        add_rows(dataset, stored_of(source, *device), settings_of, sets, left_out);
    }
    return sets;
}

}  // namespace

std::vector<MeasuredRows> measured_rows(const Dataset& dataset, const std::vector<std::string>& devices,
                                        const SettingsOf& settings_of, const Dataset* paced_by) {
    LeftOut left_out;
    auto rows = rows_of({dataset, paced_by}, devices, settings_of, left_out);
    tell(left_out);
    tell_versions(rows);
    return rows;
}

void tell_samples(const MeasuredRows& rows, std::span<const Learner> learners) {
    for (const SampledPart& part : sampled_parts(rows.operations, learners)) {
        std::cerr << "joulecast: " << name(part.learner) << " learns " << name(part.metric) << " of "
                  << name(part.family) << " on " << rows.device.id << " from at most " << part.learned << " of "
                  << part.rows << " rows, drawn by seed, because its cost grows with the square of the rows\n";
    }
}

}  // namespace joulecast::cli
