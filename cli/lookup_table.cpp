#include "cli/lookup_table.h"

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cli/device_forecasts.h"
#include "cli/known.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/graph/record.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One operation on one device at one setting.
struct Entry {
    std::string device;
    double clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    std::string precision;
    std::string engine;
    std::string host;
    OperationForecast forecast;
    std::set<std::string> networks;  ///< that call it
};

/// How operations become a network there.
struct Composition {
    std::string device;
    std::string precision;
    std::string host;
    std::string mode;
    NetworkCorrection correction;
    double seconds_per_call = 0;
    double idle_w = std::numeric_limits<double>::quiet_NaN();
};

/// A device, and what its numbers come from.
struct Source {
    std::string asked_for;
    Forecast forecast;  ///< of nothing: names and origin alone
};

struct Collected {
    std::vector<Entry> entries;
    std::vector<Composition> compositions;
    std::vector<Source> sources;
    std::set<std::string> networks;
};

double low(const auto& estimate) {
    return estimate.low.value();
}
double high(const auto& estimate) {
    return estimate.high.value();
}
double middle(const auto& estimate) {
    return estimate.value.value();
}

const std::vector<Column<Entry>>& entry_columns() {
    using E = const Entry&;
    static const std::vector<Column<Entry>> list = {
        {"device", "", Show::text, [](E e) { return e.device; }},
        {"clock_mhz", "", Show::number, [](E e) { return known(e.clock_mhz); }},
        {"memory_clock_mhz", "", Show::number, [](E e) { return known(e.memory_clock_mhz); }},
        {"precision", "", Show::text, [](E e) { return e.precision; }},
        {"engine", "", Show::text, [](E e) { return e.engine; }},
        {"host", "", Show::text, [](E e) { return e.host; }},
        {"mode", "", Show::text, [](E e) { return std::string(name(mode(e.forecast.operation))); }},
        {"part", "", Show::text, [](E e) { return std::string(name(e.forecast.part)); }},
        {"op", "", Show::text, [](E e) { return e.forecast.operation.target; }},
        {"family", "", Show::text, [](E e) { return std::string(name(family(e.forecast.operation))); }},
        {"signature", "", Show::text, [](E e) { return signature(e.forecast.operation); }},
        {"time_s", "", Show::seconds, [](E e) { return known(middle(e.forecast.cost.device_time)); }},
        {"time_low_s", "", Show::seconds, [](E e) { return known(low(e.forecast.cost.device_time)); }},
        {"time_high_s", "", Show::seconds, [](E e) { return known(high(e.forecast.cost.device_time)); }},
        {"host_time_s", "", Show::seconds, [](E e) { return known(middle(e.forecast.cost.host_time)); }},
        {"kernel_time_s", "", Show::seconds, [](E e) { return known(e.forecast.kernel_s); }},
        {"energy_j", "", Show::joules, [](E e) { return known(middle(e.forecast.energy)); }},
        {"energy_low_j", "", Show::joules, [](E e) { return known(low(e.forecast.energy)); }},
        {"energy_high_j", "", Show::joules, [](E e) { return known(high(e.forecast.energy)); }},
        {"power_w", "", Show::watts, [](E e) { return known(middle(e.forecast.power)); }},
        {"peak_memory_bytes", "", Show::bytes, [](E e) { return known(middle(e.forecast.cost.peak_memory)); }},
        {"peak_memory_low_bytes", "", Show::bytes, [](E e) { return known(low(e.forecast.cost.peak_memory)); }},
        {"peak_memory_high_bytes", "", Show::bytes, [](E e) { return known(high(e.forecast.cost.peak_memory)); }},
        {"evidence", "", Show::text, [](E e) { return std::string(name(e.forecast.evidence)); }},
        {"power_evidence", "", Show::text, [](E e) { return std::string(name(e.forecast.power_evidence)); }},
        {"networks", "", Show::text, [](E e) { return joined({e.networks.begin(), e.networks.end()}, ";"); }},
    };
    return list;
}

const std::vector<Column<Composition>>& composition_columns() {
    using C = const Composition&;
    static const std::vector<Column<Composition>> list = {
        {"device", "", Show::text, [](C c) { return c.device; }},
        {"precision", "", Show::text, [](C c) { return c.precision; }},
        {"host", "", Show::text, [](C c) { return c.host; }},
        {"mode", "", Show::text, [](C c) { return c.mode; }},
        {"device_factor", "", Show::number, [](C c) { return c.correction.factor; }},
        {"host_factor", "", Show::number, [](C c) { return c.correction.host_factor; }},
        {"energy_factor", "", Show::number, [](C c) { return c.correction.energy_factor; }},
        {"networks", "", Show::count, [](C c) { return c.correction.networks; }},
        {"host_seconds_per_call", "", Show::seconds, [](C c) { return c.seconds_per_call; }},
        {"idle_w", "", Show::watts, [](C c) { return known(c.idle_w); }},
    };
    return list;
}

/// What is asked of one device, and whose operations are in the table already.
struct AskedDevice {
    std::unique_ptr<SharedForecasts> forecasts;
    std::map<std::string, std::size_t> places;  ///< of entries, by all that makes an entry
    std::set<std::string> composed;
};

AskedDevice load(const std::string& named, const LookupTable& wanted) {
    if (named.find('@') != std::string::npos)
        throw UsageError("--device " + named +
                         ": a look-up table is for the clock that the device was measured at; joulecast predict "
                         "--clocks forecasts networks at others");
    auto loaded = std::make_shared<LoadedDevice>(named, wanted.predictor, wanted.database);
    tell(loaded->database_note());
    tell(loaded->note());
    std::set<const DeviceModel*> used;
    for (const ForecastSetting& setting : wanted.settings.settings(Mode::inference)) {
        const DeviceModel& model = loaded->model_for(setting.precision, setting.host);
        if (used.insert(&model).second) tell(loaded->measured_note(model));
    }
    return {std::make_unique<SharedForecasts>(std::move(loaded)), {}, {}};
}

Source source_of(const std::string& named, const LoadedDevice& device) {
    NetworkForecast nothing;
    nothing.device = device.device().id;
    nothing.predictor = device.predictor_name();
    return {named, with_source(std::move(nothing), device)};
}

void add_composition(const NetworkForecast& network, AskedDevice& on, Collected& into) {
    const Host host = network.point.host;
    const std::string key = correction_key(network.mode, network.precision);
    if (!on.composed.insert(key + "|" + std::string(name(host))).second) return;
    const DeviceModel& model = on.forecasts->device().model_for(network.precision, host);
    into.compositions.push_back({network.device, network.precision, std::string(name(host)),
                                 std::string(name(network.mode)), network_correction(model, key),
                                 host_extra(model, host, network.mode).seconds_per_call, power_facts_of(model).idle_w});
}

void add_operations(const NetworkForecast& network, const std::string& called, AskedDevice& on, Collected& into) {
    const std::string host(name(network.point.host));
    for (const OperationForecast& one : network.operations) {
        std::string key = network.precision + '\n' + host + '\n';
        key += std::string(name(one.part)) + '\n' + signature(one.operation);
        const auto [place, is_new] = on.places.try_emplace(std::move(key), into.entries.size());
        if (is_new)
            into.entries.push_back({network.device,
                                    network.point.sm_clock_mhz,
                                    network.point.memory_clock_mhz,
                                    network.precision,
                                    network.point.engine,
                                    host,
                                    one,
                                    {}});
        into.entries[place->second].networks.insert(called);
    }
}

Collected collect(const LookupTable& wanted) {
    Collected collected;
    std::vector<AskedDevice> devices;
    for (const std::string& named : wanted.devices) {
        devices.push_back(load(named, wanted));
        collected.sources.push_back(source_of(named, devices.back().forecasts->device()));
    }
    const std::size_t networks = wanted.models.size() * wanted.settings.count();
    std::vector<NetworkForecast> made(devices.size() * networks);
    std::vector<std::string> names(networks);
    wanted.settings.visit_in_parallel(wanted.models, [&](const SettingOptions::Visited& at) {
        std::size_t place = at.place;
        for (const ForecastSetting& setting : wanted.settings.settings(at.mode)) {
            names[place] = with_values(at.graph.name, symbol_values(at.graph), "@");
            for (std::size_t i = 0; i < devices.size(); ++i)
                made[i * networks + place] = devices[i].forecasts->forecast(at.graph, setting);
            ++place;
        }
    });
    collected.networks.insert(names.begin(), names.end());
    for (std::size_t i = 0; i < made.size(); ++i) {
        AskedDevice& on = devices[i / networks];
        add_composition(made[i], on, collected);
        add_operations(made[i], names[i % networks], on, collected);
    }
    return collected;
}

Json source_json(const Source& source) {
    const Forecast& f = source.forecast;
    return {{"device", f.network.device},
            {"asked_for", source.asked_for},
            {"device_name", f.device_name},
            {"predictor", f.network.predictor},
            {"predictor_note", f.note},
            {"trained_by", f.origin->program},
            {"trained_at", f.origin->created},
            {"licence", f.origin->licence},
            {"rows", f.origin->rows},
            {"sources", f.origin->sources},
            {"frameworks", f.origin->frameworks},
            {"measured_from", f.origin->measured_from},
            {"measured_to", f.origin->measured_to}};
}

Json provenance(const Collected& collected) {
    Json sources = Json::array();
    for (const auto& source : collected.sources) sources.push_back(source_json(source));
    return {{"schema", "joulecast.lut/1"},
            {"program", "joulecast " JOULECAST_VERSION},
            {"predictors", std::move(sources)},
            {"networks", collected.networks},
            {"compositions", Json::parse(to_json(fill(composition_columns(), collected.compositions)))}};
}

std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string lookup_table_text(const LookupTable& wanted, const std::string& format) {
    const Collected collected = collect(wanted);
    const Json head = provenance(collected);
    const Table table = fill(entry_columns(), collected.entries);
    if (format == "json") {
        const std::string whole = dumped(head);
        return whole.substr(0, whole.size() - 1) + ",\"operations\":" + to_json(table) + "}\n";
    }
    // Comment lines, as readers of CSV take them (pandas: comment="#").
    std::string text;
    for (const auto& [key, value] : head.items()) text += "# " + key + ": " + dumped(value) + "\n";
    return text + to_csv(table);
}

}  // namespace joulecast::cli
