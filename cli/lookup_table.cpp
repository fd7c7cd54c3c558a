#include "cli/lookup_table.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cli/json_tree.h"
#include "cli/known.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/answer/session.h"
#include "joulecast/device/engine.h"
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
    std::string engine;
    std::string host;
    std::string mode;
    NetworkCorrection correction;
    double seconds_per_call = 0;
    double idle_w = std::numeric_limits<double>::quiet_NaN();
};

struct Collected {
    std::vector<Entry> entries;
    std::vector<Composition> compositions;
    std::vector<AnsweringDevice> sources;
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
        {"engine", "", Show::text, [](C c) { return c.engine; }},
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

/// What the table has of one device already.
struct Tabled {
    std::map<std::string, std::size_t> places;  ///< of entries, by all that makes an entry
    std::set<std::string> composed;
};

void add_composition(const Forecast& forecast, Tabled& tabled, Collected& into) {
    const NetworkForecast& network = forecast.network;
    const Host host = network.point.host;
    const std::string key = correction_key(network.mode, network.precision);
    if (!tabled.composed.insert(key + "|" + host_text(network.point)).second) return;
    const DeviceModel& model = *forecast.model;
    into.compositions.push_back({network.device, network.precision, network.point.engine, std::string(name(host)),
                                 std::string(name(network.mode)), network_correction(model, key),
                                 host_extra(model, host, network.mode).seconds_per_call, power_facts_of(model).idle_w});
}

void add_operations(const NetworkForecast& network, const std::string& called, Tabled& tabled, Collected& into) {
    const std::string host(name(network.point.host));
    for (const OperationForecast& operation : network.operations) {
        std::string key = network.precision + '\n' + host_text(network.point) + '\n';
        key += std::string(name(operation.part)) + '\n' + signature(operation.operation);
        const auto [place, is_new] = tabled.places.try_emplace(std::move(key), into.entries.size());
        if (is_new)
            into.entries.push_back({network.device,
                                    network.point.sm_clock_mhz,
                                    network.point.memory_clock_mhz,
                                    network.precision,
                                    network.point.engine,
                                    host,
                                    operation,
                                    {}});
        into.entries[place->second].networks.insert(called);
    }
}

Question question_of(const LookupTable& wanted) {
    Question question;
    question.models = wanted.models;
    wanted.settings.put_in(question);
    for (const std::string& named : wanted.devices) {
        if (named.find('@') != std::string::npos)
            throw UsageError("--device " + named +
                             ": a look-up table is for the clock that the device was measured at; joulecast predict "
                             "--clocks forecasts networks at others");
        question.devices.push_back({named, {}});
    }
    return question;
}

Collected collect(const LookupTable& wanted) {
    Session session(for_one_question(wanted.predictor, wanted.database));
    Answer answer = session.answer(question_of(wanted), tell);
    Collected collected;
    std::vector<Tabled> tabled(answer.devices.size());
    for (const Forecast& forecast : answer.forecasts) {
        const NetworkForecast& network = forecast.network;
        const std::string called = with_values(network.model, network.symbols, "@");
        collected.networks.insert(called);
        add_composition(forecast, tabled[forecast.device], collected);
        add_operations(network, called, tabled[forecast.device], collected);
    }
    collected.sources = std::move(answer.devices);
    return collected;
}

Json source_json(const AnsweringDevice& source) {
    const LoadedDevice& from = *source.loaded;
    const Origin& origin = from.origin();
    return {{"device", from.device().id},
            {"asked_for", source.named},
            {"device_name", from.device().display_name},
            {"predictor", from.predictor_name()},
            {"predictor_note", source.note},
            {"trained_by", origin.program},
            {"trained_at", origin.created},
            {"licence", origin.licence},
            {"rows", origin.rows},
            {"sources", origin.sources},
            {"frameworks", origin.frameworks},
            {"measured_from", origin.measured_from},
            {"measured_to", origin.measured_to}};
}

Json provenance(const Collected& collected) {
    Json sources = Json::array();
    for (const auto& source : collected.sources) sources.push_back(source_json(source));
    return {{"schema", "joulecast.lut/1"},
            {"program", "joulecast " JOULECAST_VERSION},
            {"predictors", std::move(sources)},
            {"networks", collected.networks},
            {"compositions", rows_json(fill(composition_columns(), collected.compositions))}};
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
        return whole.substr(0, whole.size() - 1) + ",\"operations\":" + printed(rows_json(table)) + "}\n";
    }
    // Comment lines, as readers of CSV take them (pandas: comment="#").
    std::string text;
    for (const auto& [key, value] : head.items()) text += "# " + key + ": " + dumped(value) + "\n";
    return text + to_csv(table);
}

}  // namespace joulecast::cli
