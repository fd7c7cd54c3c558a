#include "cli/forecast_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/clock_text.h"
#include "cli/json_number.h"
#include "cli/known.h"
#include "cli/memory_output.h"
#include "cli/operation_json.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string symbols_text(const NetworkForecast& network) {
    std::string text;
    for (const auto& [symbol, value] : network.symbols) {
        text += (text.empty() ? "" : ", ") + symbol + "=" + std::to_string(value);
    }
    return text;
}

/// "; power: physical power model": said where energy is known worse than from measured power alone.
std::string power_evidence_text(const NetworkForecast& network) {
    std::string text;
    for (const auto& [evidence, share] : network.power_evidence_share) {
        if (evidence != PowerEvidence::physical || share < 0.005) continue;
        text += "; power: " + std::string(name(evidence));
        if (share < 0.995) text += " " + show(share, Show::percent);
    }
    return text;
}

std::string evidence_text(const NetworkForecast& network) {
    std::string text;
    for (const auto& [evidence, share] : network.evidence_share) {
        if (share < 0.005) continue;
        text += (text.empty() ? "" : ", ") + std::string(name(evidence)) + " " + show(share, Show::percent);
    }
    return text + power_evidence_text(network);
}

/// "12.3 – 15.6 ms", both in the unit of the larger.
std::string interval_text(const Estimate<Seconds>& time) {
    return show(time.low.value(), Show::seconds) + " – " + show(time.high.value(), Show::seconds);
}
std::string interval_text(const Estimate<Joules>& energy) {
    return show(energy.low.value(), Show::joules) + " – " + show(energy.high.value(), Show::joules);
}

/// Forward and backward passes in what time and energy are of.
double passes(const NetworkForecast& n) {
    return static_cast<double>(n.training.accumulation);
}

/// "training, adamw, 4 passes, checkpointed".
std::string mode_text(const NetworkForecast& n) {
    std::string text(name(n.mode));
    if (n.training.optimizer != Optimizer::none) text += ", " + std::string(name(n.training.optimizer));
    if (n.training.accumulation > 1) text += ", " + std::to_string(n.training.accumulation) + " passes";
    if (n.checkpointed_blocks > 0) text += ", checkpointed";
    return text;
}

double total_memory(const NetworkForecast& n) {
    return n.resident_bytes + n.cost.peak_memory.value.value();
}

using NetworkColumns = std::vector<Column<Forecast>>;

const NetworkColumns& table_columns() {
    static const NetworkColumns list = {
        {"model", "network", Show::text, [](const Forecast& f) { return f.network.model; }},
        {"symbols", "sizes", Show::text, [](const Forecast& f) { return symbols_text(f.network); }},
        {"mode", "mode", Show::text, [](const Forecast& f) { return mode_text(f.network); }},
        {"precision", "precision", Show::text, [](const Forecast& f) { return f.network.precision; }},
        {"host", "host", Show::text, [](const Forecast& f) { return std::string(name(f.network.point.host)); }},
        {"time_s", "time", Show::text,
         [](const Forecast& f) {
             return (f.network.lower_bound ? "≥ " : "") + show(f.network.time.value.value(), Show::seconds);
         }},
        {"interval", "90 % interval", Show::text, [](const Forecast& f) { return interval_text(f.network.time); }},
        {"energy_j", "energy", Show::joules, [](const Forecast& f) { return known(f.network.energy.value.value()); }},
        {"energy_interval", "90 % interval", Show::text,
         [](const Forecast& f) {
             return f.network.energy.known() ? interval_text(f.network.energy) : std::string("–");
         }},
        {"power_w", "power", Show::watts, [](const Forecast& f) { return known(f.network.power.value.value()); }},
        {"memory", "memory", Show::bytes, [](const Forecast& f) { return known(total_memory(f.network)); }},
        {"evidence", "times are", Show::text, [](const Forecast& f) { return evidence_text(f.network); }},
    };
    return list;
}

/// With the clock behind the host, where one was asked for.
NetworkColumns text_columns(const std::vector<Forecast>& forecasts) {
    NetworkColumns columns = table_columns();
    if (!has_clocks(forecasts)) return columns;
    const auto after = std::ranges::find(columns, "time_s", &Column<Forecast>::key);
    columns.insert(after, {"clock", "clock", Show::text, [](const Forecast& f) { return clock_text(f.network); }});
    return columns;
}

const NetworkColumns& csv_columns() {
    static const NetworkColumns list = {
        {"model", "", Show::text, [](const Forecast& f) { return f.network.model; }},
        {"device", "", Show::text, [](const Forecast& f) { return f.network.device; }},
        {"symbols", "", Show::text, [](const Forecast& f) { return symbols_text(f.network); }},
        {"mode", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.mode)); }},
        {"precision", "", Show::text, [](const Forecast& f) { return f.network.precision; }},
        {"time_s", "", Show::seconds, [](const Forecast& f) { return known(f.network.time.value.value()); }},
        {"time_low_s", "", Show::seconds, [](const Forecast& f) { return known(f.network.time.low.value()); }},
        {"time_high_s", "", Show::seconds, [](const Forecast& f) { return known(f.network.time.high.value()); }},
        {"energy_j", "", Show::joules, [](const Forecast& f) { return known(f.network.energy.value.value()); }},
        {"energy_low_j", "", Show::joules, [](const Forecast& f) { return known(f.network.energy.low.value()); }},
        {"energy_high_j", "", Show::joules, [](const Forecast& f) { return known(f.network.energy.high.value()); }},
        {"idle_energy_j", "", Show::joules, [](const Forecast& f) { return known(f.network.idle_energy_j); }},
        {"dynamic_energy_j", "", Show::joules, [](const Forecast& f) { return known(f.network.dynamic_energy_j); }},
        {"power_w", "", Show::watts, [](const Forecast& f) { return known(f.network.power.value.value()); }},
        {"power_low_w", "", Show::watts, [](const Forecast& f) { return known(f.network.power.low.value()); }},
        {"power_high_w", "", Show::watts, [](const Forecast& f) { return known(f.network.power.high.value()); }},
        {"peak_memory_bytes", "", Show::bytes,
         [](const Forecast& f) { return known(f.network.cost.peak_memory.value.value()); }},
        {"resident_bytes", "", Show::bytes, [](const Forecast& f) { return known(f.network.resident_bytes); }},
        {"optimizer", "", Show::text,
         [](const Forecast& f) { return std::string(name(f.network.training.optimizer)); }},
        {"accumulate", "", Show::count, [](const Forecast& f) { return f.network.training.accumulation; }},
        {"checkpointed_blocks", "", Show::count, [](const Forecast& f) { return f.network.checkpointed_blocks; }},
        {"update_time_s", "", Show::seconds,
         [](const Forecast& f) { return known(f.network.update_time.value.value()); }},
        {"needed_bytes", "", Show::bytes,
         [](const Forecast& f) { return known(f.network.memory_fit.value_or(MemoryFit{}).needed_bytes); }},
        {"power_evidence", "", Show::text,
         [](const Forecast& f) {
             const std::string text = power_evidence_text(f.network);
             return text.empty() ? text : text.substr(std::string_view("; power: ").size());
         }},
        {"unknown_nodes", "", Show::count, [](const Forecast& f) { return f.network.unknown_nodes; }},
        {"lower_bound", "", Show::text, [](const Forecast& f) { return f.network.lower_bound; }},
        {"predictor", "", Show::text, [](const Forecast& f) { return f.network.predictor; }},
        {"host", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.point.host)); }},
        {"device_time_s", "", Show::seconds,
         [](const Forecast& f) { return known(f.network.cost.device_time.value.value()); }},
        {"host_time_s", "", Show::seconds,
         [](const Forecast& f) { return known(f.network.cost.host_time.value.value()); }},
        {"host_adds_s", "", Show::seconds, [](const Forecast& f) { return known(f.network.host_adds.value.value()); }},
        {"host_evidence", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.host_evidence)); }},
        {"limited_by", "", Show::text, [](const Forecast& f) { return std::string(name(f.network.limited_by)); }},
        {"asked_clock_mhz", "", Show::number, [](const Forecast& f) { return known(f.network.asked.sm_clock_mhz); }},
        {"clock_mhz", "", Show::number, [](const Forecast& f) { return known(f.network.point.sm_clock_mhz); }},
        {"memory_clock_mhz", "", Show::number,
         [](const Forecast& f) { return known(f.network.point.memory_clock_mhz); }},
        {"asked_power_limit_w", "", Show::number,
         [](const Forecast& f) { return known(f.network.asked.power_limit_w); }},
    };
    return list;
}

/// All calls of one operation.
struct OperationLine {
    std::string model;
    std::string mode;
    std::string precision;
    std::string host;
    OperationForecast forecast;
    double share = 0;
    double total_s = 0;
};

std::vector<OperationLine> lines(const NetworkForecast& network) {
    std::vector<OperationLine> all;
    double total = 0;
    for (const OperationForecast& operation : network.operations) {
        const double time = operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        total += time;
        all.push_back({network.model, std::string(name(network.mode)), network.precision,
                       std::string(name(network.point.host)), operation, 0, time});
    }
    for (OperationLine& line : all) line.share = total > 0 ? line.total_s / total : 0;
    return all;
}

/// What distinguishes calls of one target, short enough for a terminal: the tensors and arguments.
std::string inside_brackets(const Operation& operation) {
    constexpr std::size_t longest = 56;
    const std::string text = signature(operation);
    const std::size_t open = text.find('(');
    if (open == std::string::npos || text.size() < open + 2) return "";
    const std::string inside = text.substr(open + 1, text.size() - open - 2);
    return inside.size() <= longest ? inside : inside.substr(0, longest) + "…";
}

const std::vector<Column<OperationLine>>& operation_table_columns() {
    static const std::vector<Column<OperationLine>> list = {
        {"op", "operation", Show::text,
         [](const OperationLine& l) {
             const std::string& target = l.forecast.operation.target;
             return target.starts_with("aten::") ? target.substr(6) : target;
         }},
        {"count", "calls", Show::count, [](const OperationLine& l) { return l.forecast.count; }},
        {"time_s", "time", Show::seconds, [](const OperationLine& l) { return l.total_s; }},
        {"share", "share", Show::percent, [](const OperationLine& l) { return l.share; }},
        {"bar", "", Show::text, [](const OperationLine& l) { return bar(l.share, 16); }},
        {"evidence", "time is", Show::text,
         [](const OperationLine& l) { return std::string(name(l.forecast.evidence)); }},
        {"tensors", "tensors", Show::text,
         [](const OperationLine& l) { return inside_brackets(l.forecast.operation); }},
    };
    return list;
}

const std::vector<Column<OperationLine>>& operation_csv_columns() {
    static const std::vector<Column<OperationLine>> list = {
        {"model", "", Show::text, [](const OperationLine& l) { return l.model; }},
        {"mode", "", Show::text, [](const OperationLine& l) { return l.mode; }},
        {"precision", "", Show::text, [](const OperationLine& l) { return l.precision; }},
        {"op", "", Show::text, [](const OperationLine& l) { return l.forecast.operation.target; }},
        {"signature", "", Show::text, [](const OperationLine& l) { return signature(l.forecast.operation); }},
        {"count", "", Show::count, [](const OperationLine& l) { return l.forecast.count; }},
        {"time_s", "", Show::seconds,
         [](const OperationLine& l) { return known(l.forecast.cost.device_time.value.value()); }},
        {"time_low_s", "", Show::seconds,
         [](const OperationLine& l) { return known(l.forecast.cost.device_time.low.value()); }},
        {"time_high_s", "", Show::seconds,
         [](const OperationLine& l) { return known(l.forecast.cost.device_time.high.value()); }},
        {"energy_j", "", Show::joules, [](const OperationLine& l) { return known(l.forecast.energy.value.value()); }},
        {"power_w", "", Show::watts, [](const OperationLine& l) { return known(l.forecast.power.value.value()); }},
        {"evidence", "", Show::text, [](const OperationLine& l) { return std::string(name(l.forecast.evidence)); }},
        {"host", "", Show::text, [](const OperationLine& l) { return l.host; }},
        {"power_evidence", "", Show::text,
         [](const OperationLine& l) { return std::string(name(l.forecast.power_evidence)); }},
    };
    return list;
}

/// The dearest operations, and the rest in one line.
std::string where_it_goes(const Forecast& forecast) {
    constexpr std::size_t shown = 12;
    auto all = lines(forecast.network);
    std::string rest;
    if (all.size() > shown) {
        double share = 0;
        for (std::size_t i = shown; i < all.size(); ++i) share += all[i].share;
        rest =
            "and " + std::to_string(all.size() - shown) + " more operations with " + show(share, Show::percent) + "\n";
        all.resize(shown);
    }
    return "\nWhere the time of " + forecast.network.model + " goes (" + std::string(name(forecast.network.mode)) +
           ", " + forecast.network.precision + ", host " + std::string(name(forecast.network.point.host)) + ")\n" +
           to_text(fill(operation_table_columns(), all)) + rest;
}

Json shares(const NetworkForecast& network) {
    Json answer = Json::object();
    for (const Evidence evidence :
         {Evidence::measured, Evidence::interpolated, Evidence::extrapolated, Evidence::analytic, Evidence::unknown}) {
        const auto found = network.evidence_share.find(evidence);
        answer[std::string(name(evidence))] = found == network.evidence_share.end() ? 0.0 : found->second;
    }
    return answer;
}

/// By how the power of operations came about; those that occur.
Json power_shares(const NetworkForecast& network) {
    Json answer = Json::object();
    for (const auto& [evidence, share] : network.power_evidence_share) answer[std::string(name(evidence))] = share;
    return answer;
}

Json to_json(const Forecast& forecast) {
    const NetworkForecast& n = forecast.network;
    Json symbols = Json::object();
    for (const auto& [symbol, value] : n.symbols) symbols[symbol] = value;
    return {{"model", n.model},
            {"device", n.device},
            {"device_name", forecast.device_name},
            {"clock_mhz", number_or_null(n.point.sm_clock_mhz)},
            {"memory_clock_mhz", number_or_null(n.point.memory_clock_mhz)},
            {"asked_clock_mhz", number_or_null(n.asked.sm_clock_mhz)},
            {"asked_memory_clock_mhz", number_or_null(n.asked.memory_clock_mhz)},
            {"asked_power_limit_w", number_or_null(n.asked.power_limit_w)},
            {"clock_workloads", forecast.clock_workloads},
            {"mode", name(n.mode)},
            {"precision", n.precision},
            {"host", name(n.point.host)},
            {"threads", n.point.threads},
            {"symbols", std::move(symbols)},
            {"time_s", estimate_json(n.time)},
            {"device_time_s", estimate_json(n.cost.device_time)},
            {"host_time_s", estimate_json(n.cost.host_time)},
            {"host_adds_s", estimate_json(n.host_adds)},
            {"host_evidence", name(n.host_evidence)},
            {"host_networks", n.host_networks},
            {"energy_j", estimate_json(n.energy)},
            {"idle_energy_j", number_or_null(n.idle_energy_j)},
            {"dynamic_energy_j", number_or_null(n.dynamic_energy_j)},
            {"power_w", estimate_json(n.power)},
            {"energy_missing_reason", n.energy_missing_reason},
            {"peak_memory_bytes", estimate_json(n.cost.peak_memory)},
            {"memory_missing_reason", n.memory_missing_reason},
            {"resident_bytes", number_or_null(n.resident_bytes)},
            {"composition", name(n.composition)},
            {"optimizer", name(n.training.optimizer)},
            {"accumulate", n.training.accumulation},
            {"checkpointing", n.training.checkpointing},
            {"update_time_s", estimate_json(n.update_time)},
            {"step_time_s", number_or_null(n.time.value.value() / passes(n))},
            {"step_energy_j", number_or_null(n.energy.value.value() / passes(n))},
            {"limited_by", name(n.limited_by)},
            {"predictor", n.predictor},
            {"predictor_note", forecast.note},
            {"evidence_share", shares(n)},
            {"power_evidence_share", power_shares(n)},
            {"unknown_nodes", n.unknown_nodes},
            {"unknown_operations", n.unknown_operations},
            {"lower_bound", n.lower_bound}};
}

/// The prediction as text, with its operations, which are most of it and written without a tree of JSON.
std::string prediction_text(const Forecast& forecast, int indent, bool with_operations) {
    std::string text = to_json(forecast).dump(indent, ' ', false, Json::error_handler_t::replace);
    const bool is_one_line = indent < 0;
    text.pop_back();  // the brace that closes it
    text.resize(text.find_last_not_of(" \n") + 1);
    text += (is_one_line ? ",\"memory\":" : ",\n  \"memory\": ") + memory_json(forecast.network);
    if (with_operations) {
        text += is_one_line ? ",\"operations\":[" : ",\n  \"operations\": [\n    ";
        append_operations(text, forecast.network.operations, is_one_line ? "," : ",\n    ");
        text += is_one_line ? "]" : "\n  ]";
    }
    return text + (is_one_line ? "}" : "\n}");
}

/// What the host adds and how that is known, once for each host, device and predictor; nothing where the operations
/// were measured from it.
std::string hosts_text(const std::vector<Forecast>& forecasts) {
    std::set<std::string> said;
    std::string text;
    for (const Forecast& f : forecasts) {
        const NetworkForecast& n = f.network;
        if (n.host_evidence == Evidence::measured) continue;
        const std::string networks =
            std::to_string(n.host_networks) + (n.host_networks == 1 ? " network" : " networks");
        const std::string how = n.host_networks > 0 ? "fitted to " + networks + " measured from it on this device"
                                                    : "carried over from other machines: no network was measured from "
                                                      "it on this device";
        const std::string line = "host " + std::string(name(n.point.host)) + ", " + std::string(name(n.mode)) + " on " +
                                 n.device + ": what it takes beyond the host of the measured operations is " + how +
                                 "\n";
        if (said.insert(line).second) text += line;
    }
    return text;
}

/// Of devices whose power comes from the data sheet alone.
std::set<std::string> physical_notes(const std::vector<Forecast>& forecasts) {
    std::set<std::string> notes;
    for (const Forecast& f : forecasts) {
        if (!f.network.power_evidence_share.contains(PowerEvidence::physical)) continue;
        notes.insert("energy: no power measured on " + f.device_name +
                     ", so its data sheet gives it by the physical power model, to within its wide interval");
    }
    return notes;
}

/// Which device, which predictor and how old its measurements are: once per predictor and device.
std::string sources_text(const std::vector<Forecast>& forecasts) {
    std::set<std::string> said;
    std::string text;
    for (const Forecast& f : forecasts) {
        std::string line = f.device_name;
        if (f.network.point.threads > 0) line += ", " + std::to_string(f.network.point.threads) + " threads";
        line += "; predictor " + f.network.predictor + " (" + std::to_string(f.origin.rows) + " operations measured";
        for (const std::string& framework : f.origin.frameworks)
            line += (&framework == &f.origin.frameworks.front() ? " with " : ", ") + framework;
        if (!f.origin.measured_to.empty()) line += ", last " + f.origin.measured_to.substr(0, 10);
        line += ")\n";
        if (said.insert(line).second) text += line;
    }
    return text;
}

}  // namespace

std::string forecasts_to_text(const std::vector<Forecast>& forecasts, bool per_operation) {
    std::string text = sources_text(forecasts) + "\n" + to_text(fill(text_columns(forecasts), forecasts));
    text += clock_curves_text(forecasts) + clock_notes_text(forecasts);
    std::set<std::string> reasons;
    for (const Forecast& f : forecasts) {
        if (!f.network.energy.known()) reasons.insert(f.network.energy_missing_reason);
    }
    for (const std::string& reason : reasons) text += "energy –: " + reason + "\n";
    text += hosts_text(forecasts);
    for (const std::string& note : physical_notes(forecasts)) text += note + "\n";
    text += "memory: parameters and inputs, and the peak above them\n";
    reasons.clear();
    for (const Forecast& f : forecasts) reasons.insert(f.network.memory_missing_reason);
    for (const std::string& reason : reasons) {
        if (!reason.empty()) text += "memory –: " + reason + "\n";
    }
    if (per_operation) {
        for (const Forecast& f : forecasts) text += where_it_goes(f);
    }
    return text;
}

std::string forecasts_to_json(const std::vector<Forecast>& forecasts) {
    std::string text = "{\"schema\": \"joulecast.prediction/1\", \"predictions\": [";
    for (const Forecast& f : forecasts) {
        if (&f != &forecasts.front()) text += ',';
        text += '\n' + prediction_text(f, 2, true);
    }
    return text + "\n]}\n";
}

std::string forecast_to_json_line(const Forecast& forecast, bool operations) {
    return prediction_text(forecast, -1, operations);
}

std::string forecasts_to_csv(const std::vector<Forecast>& forecasts, bool per_operation) {
    if (!per_operation) return to_csv(fill(csv_columns(), forecasts));
    std::vector<OperationLine> all;
    for (const Forecast& f : forecasts) {
        for (OperationLine& line : lines(f.network)) all.push_back(std::move(line));
    }
    return to_csv(fill(operation_csv_columns(), all));
}

}  // namespace joulecast::cli
