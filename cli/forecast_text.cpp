#include "cli/forecast_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <sstream>
#include <utility>

#include "cli/clock_text.h"
#include "cli/fitted_table.h"
#include "cli/forecast_words.h"
#include "cli/host_bound.h"
#include "cli/known.h"
#include "cli/prose.h"
#include "joulecast/device/engine.h"
#include "joulecast/device/threads_text.h"
#include "joulecast/forecast/compose.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/table.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {
namespace {

/// A line of prose, broken where the terminal ends.
std::string line(const std::string& text, const TextSettings& settings) {
    return wrapped(text, settings.terminal.width, "  ") + '\n';
}

std::string wrapped_lines(const std::string& text, const TextSettings& settings) {
    std::string result;
    std::istringstream lines(text);
    for (std::string text_line; std::getline(lines, text_line);) result += line(text_line, settings);
    return result;
}

/// Of the largest share of the time.
std::string main_evidence(const NetworkForecast& network) {
    const auto& shares = network.evidence_share;
    const auto most = std::ranges::max_element(shares, {}, [](const auto& share) { return share.second; });
    return most == shares.end() ? std::string(name(Evidence::unknown)) : std::string(name(most->first));
}

std::string evidence_text(const NetworkForecast& network) {
    std::string text;
    for (const auto& [evidence, share] : network.evidence_share) {
        if (share < 0.005) continue;
        text += (text.empty() ? "" : ", ") + std::string(name(evidence)) + " " + show(share, Show::percent);
    }
    const std::string power = power_evidence_words(network);
    return text + (power.empty() ? "" : "; power: " + power);
}

/// "12.3 – 15.6 ms"; "987 µs – 1.20 ms" where the units differ.
template <class Unit>
std::string interval_text(const Estimate<Unit>& estimate, Show as) {
    const std::string low = show(estimate.low.value(), as), high = show(estimate.high.value(), as);
    return (unit_of(low) == unit_of(high) ? without_unit(low) : low) + " – " + high;
}

/// "training, adamw, 4 passes, checkpointed".
std::string mode_text(const NetworkForecast& n) {
    std::string text(name(n.mode));
    if (n.training.optimizer != Optimizer::none) text += ", " + std::string(name(n.training.optimizer));
    if (n.training.accumulation > 1) text += ", " + std::to_string(n.training.accumulation) + " passes";
    if (n.checkpointed_blocks > 0) text += ", checkpointed";
    return text;
}

using NetworkColumns = std::vector<Column<Forecast>>;

const NetworkColumns& table_columns() {
    static const NetworkColumns list = {
        {"model", "network", Show::text, [](const Forecast& f) { return f.network.model; }},
        {"device", "device", Show::text, [](const Forecast& f) { return f.network.device; }},
        {"symbols", "sizes", Show::text, [](const Forecast& f) { return values_text(f.network.symbols); }},
        {"mode", "mode", Show::text, [](const Forecast& f) { return mode_text(f.network); }},
        {"precision", "precision", Show::text, [](const Forecast& f) { return f.network.precision; }},
        {"host", "host", Show::text, [](const Forecast& f) { return std::string(name(f.network.point.host)); }},
        {"time_s", "time", Show::text,
         [](const Forecast& f) {
             return (f.network.lower_bound ? "≥ " : "") + show(f.network.time.value.value(), Show::seconds);
         }},
        {"interval", "90 % interval", Show::text,
         [](const Forecast& f) { return interval_text(f.network.time, Show::seconds); }},
        {"energy_j", "energy", Show::joules, [](const Forecast& f) { return known(f.network.energy.value.value()); }},
        {"energy_interval", "90 % interval", Show::text,
         [](const Forecast& f) {
             return f.network.energy.known() ? interval_text(f.network.energy, Show::joules) : std::string("–");
         }},
        {"power_w", "power", Show::watts, [](const Forecast& f) { return known(f.network.power.value.value()); }},
        {"memory", "memory", Show::bytes, [](const Forecast& f) { return known(memory_bytes(f.network)); }},
        {"limited_by", "limited by", Show::text, [](const Forecast& f) { return limit_name(f.network); }},
        {"evidence", "times are", Show::text, [](const Forecast& f) { return evidence_text(f.network); }},
    };
    return list;
}

/// "×0.81 (0.79 – 0.83)"; empty where nothing is known.
std::string ratio_text(const Estimate<Ratio>& ratio) {
    if (!ratio.known()) return "–";
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "×%.2f (%.2f – %.2f)", ratio.value.value(), ratio.low.value(),
                  ratio.high.value());
    return text.data();
}

Column<Forecast> relative_column(const char* key, const char* header, Estimate<Ratio> RelativeCost::* of) {
    return {key, header, Show::text, [of](const Forecast& f) {
                return f.relative_to_default ? ratio_text(f.relative_to_default->cost.*of) : "–";
            }};
}

/// With the clock behind the host, where one was asked for, and what it costs over the device's own clock.
NetworkColumns text_columns(const std::vector<Forecast>& forecasts) {
    NetworkColumns columns = table_columns();
    const auto is_usual = [](const Forecast& f) { return is_torch(f.network.point.engine); };
    if (!std::ranges::all_of(forecasts, is_usual)) {
        const auto host = std::ranges::find(columns, "host", &Column<Forecast>::key);
        columns.insert(host,
                       {"engine", "engine", Show::text, [](const Forecast& f) { return f.network.point.engine; }});
    }
    const auto is_contiguous = [](const Forecast& f) { return f.network.memory_format == MemoryFormat::contiguous; };
    if (!std::ranges::all_of(forecasts, is_contiguous)) {
        const auto host = std::ranges::find(columns, "host", &Column<Forecast>::key);
        columns.insert(host, {"memory_format", "images", Show::text,
                              [](const Forecast& f) { return std::string(name(f.network.memory_format)); }});
    }
    if (std::ranges::any_of(forecasts, [](const Forecast& f) { return std::isfinite(tokens_of(f.network)); })) {
        const auto memory = std::ranges::find(columns, "memory", &Column<Forecast>::key);
        columns.insert(
            memory, {{"tokens_per_s", "tokens/s", Show::number,
                      [](const Forecast& f) { return known(tokens_of(f.network) / f.network.time.value.value()); }},
                     {"energy_per_token", "a token", Show::joules,
                      [](const Forecast& f) { return known(f.network.energy.value.value() / tokens_of(f.network)); }}});
    }
    if (!has_clocks(forecasts)) return columns;
    const auto after = std::ranges::find(columns, "time_s", &Column<Forecast>::key);
    columns.insert(after, {"clock", "clock", Show::text, [](const Forecast& f) { return clock_text(f.network); }});
    const auto before = std::ranges::find(columns, "memory", &Column<Forecast>::key);
    columns.insert(before, {relative_column("relative_time", "time: default = 1", &RelativeCost::time),
                            relative_column("relative_energy", "energy: default = 1", &RelativeCost::energy),
                            relative_column("relative_power", "power: default = 1", &RelativeCost::power)});
    return columns;
}

/// All calls of one operation.
struct OperationLine {
    OperationForecast forecast;
    double share = 0;
    double total_s = 0;
};

std::vector<OperationLine> lines(const NetworkForecast& network) {
    std::vector<OperationLine> operations;
    double total = 0;
    for (const OperationForecast& operation : network.operations) {
        const double time = operation.cost.device_time.value.value() * static_cast<double>(operation.count);
        total += time;
        operations.push_back({operation, 0, time});
    }
    for (OperationLine& line : operations) line.share = total > 0 ? line.total_s / total : 0;
    return operations;
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
             return with_role(target.starts_with("aten::") ? target.substr(6) : target, l.forecast);
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

/// The dearest operations, and the rest in one line.
std::string where_it_goes(const Forecast& forecast) {
    constexpr std::size_t shown = 12;
    auto operations = lines(forecast.network);
    std::string rest;
    if (operations.size() > shown) {
        double share = 0;
        for (std::size_t i = shown; i < operations.size(); ++i) share += operations[i].share;
        rest = "and " + std::to_string(operations.size() - shown) + " more operations with " +
               show(share, Show::percent) + "\n";
        operations.resize(shown);
    }
    return "\nWhere the time of " + forecast.network.model + " goes (" + std::string(name(forecast.network.mode)) +
           ", " + forecast.network.precision + ", host " + host_text(forecast.network.point) + ")\n" +
           to_text(fill(operation_table_columns(), operations)) + rest;
}

/// "8.0 us per call, within a factor of 2.3"
std::string assumed(const HostExtra& extra) {
    char factor[32];
    std::snprintf(factor, sizeof factor, "%.1f", spread_90(extra.sigma));
    return show(std::abs(extra.seconds_per_call), Show::seconds) + (extra.seconds_per_call < 0 ? " less" : "") +
           " per call, within a factor of " + factor;
}

/// "Python overhead was fitted to 3 networks measured on a-gpu"
std::string host_sentence(const Forecast& f) {
    const NetworkForecast& n = f.network;
    const std::string overhead = host_word(n.point.host) + " overhead was ";
    if (n.host_networks > 0)
        return overhead + "fitted to " + std::to_string(n.host_networks) +
               (n.host_networks == 1 ? " network" : " networks") + " measured on " + n.device;
    if (n.point.host == Host::graph)  // issues once, so nothing is assumed per call
        return "no CUDA graph was measured on " + n.device + "; assuming one launch and kernels without gaps";
    return overhead + "not measured on " + n.device + "; assuming " + assumed(f.assumed_host);
}

/// What the host adds and how that is known, once for each host, device and predictor; nothing where the operations
/// were measured from it.
std::string hosts_text(const std::vector<Forecast>& forecasts) {
    std::set<std::string> said;
    std::string text;
    for (const Forecast& f : forecasts) {
        const NetworkForecast& n = f.network;
        if (n.host_evidence == Evidence::measured) continue;
        if (n.host_networks == 0 && f.assumed_host.seconds_per_call == 0) continue;  // another CPU: issuer_text()
        const std::string line = host_sentence(f) + " (" + std::string(name(n.mode)) + ")\n";
        if (said.insert(line).second) text += line;
    }
    return text;
}

/// What engines fuse, by rules; once for each network.
std::string fusion_text(const std::vector<Forecast>& forecasts, const TextSettings& settings) {
    std::set<std::string> said;
    std::string text;
    for (const Forecast& f : forecasts) {
        const std::string words = fusion_words(f.network);
        if (!words.empty() && said.insert(words).second) text += line(words, settings);
    }
    return text;
}

bool has_measured_power(const Forecast& forecast) {
    const auto& shares = forecast.network.power_evidence_share;
    const auto found = shares.find(PowerEvidence::measured);
    return found != shares.end() && found->second > 0;
}

/// Of devices whose power comes from the data sheet, alone or beside what was measured.
std::string physical_note(const std::vector<Forecast>& forecasts, const TextSettings& settings) {
    std::vector<std::string> by_sheet, in_part;
    for (const Forecast& f : forecasts) {
        if (!f.network.power_evidence_share.contains(PowerEvidence::physical)) continue;
        std::vector<std::string>& devices = has_measured_power(f) ? in_part : by_sheet;
        if (std::ranges::find(devices, f.network.device) == devices.end()) devices.push_back(f.network.device);
    }
    std::string text;
    if (!by_sheet.empty())
        text += line("energy: no power measured on " + joined(by_sheet) +
                         "; from data sheets (physical power model), with wide intervals",
                     settings);
    if (!in_part.empty())
        text += line("energy: not all operations' power was measured on " + joined(in_part) +
                         "; the rest is from data sheets (physical power model), with wide intervals",
                     settings);
    return text;
}

/// How much was measured, with what and when; empty of nothing.
std::string origin_text(const Origin& origin) {
    std::string text = " (" + std::to_string(origin.rows) + " operations measured";
    for (const std::string& framework : origin.frameworks)
        text += (&framework == &origin.frameworks.front() ? " with " : ", ") + framework;
    if (!origin.measured_to.empty()) text += ", last " + origin.measured_to.substr(0, 10);
    return text + ")";
}

/// Which devices, and which predictor they are forecast by.
std::string sources_text(const std::vector<Forecast>& forecasts, const TextSettings& settings) {
    std::vector<std::pair<std::string, std::vector<std::string>>> devices;  // by predictor
    for (const Forecast& f : forecasts) {
        std::string device = f.device_name;
        if (f.threads > 0) device += ", " + threads_text(f.threads);
        const std::string predictor =
            "predictor " + f.network.predictor + (settings.verbose ? origin_text(*f.origin) : "");
        auto of = std::ranges::find(devices, predictor, &decltype(devices)::value_type::first);
        if (of == devices.end()) of = devices.insert(devices.end(), {predictor, {}});
        if (std::ranges::find(of->second, device) == of->second.end()) of->second.push_back(device);
    }
    std::string text;
    for (const auto& [predictor, named] : devices) text += line(joined(named) + "; " + predictor, settings);
    return text;
}

/// The table in the width of the terminal, below a line of what all its rows have in common.
std::string table_text(const std::vector<Forecast>& forecasts, const TextSettings& settings) {
    static const std::array<AlikeColumn, 8> identity{{{"model"},
                                                      {"device"},
                                                      {"symbols"},
                                                      {"mode"},
                                                      {"precision", true},
                                                      {"memory_format", true},
                                                      {"engine", true},
                                                      {"host", true}}};
    // Relative to the default clock the intervals are the narrow ones.
    static const std::vector<std::string> at_clocks{"evidence", "relative_power", "energy_interval", "memory",
                                                    "interval", "power_w",        "limited_by",      "relative_energy"};
    static const std::vector<std::string> plain{"evidence",     "power_w", "energy_interval", "energy_per_token",
                                                "tokens_per_s", "memory",  "interval"};
    Table table = fill(text_columns(forecasts), forecasts);
    const std::string alike = take_alike(table, identity);
    std::string text = alike.empty() ? "" : line(alike, settings);
    const std::size_t width = settings.verbose ? std::string::npos : settings.terminal.width;
    const Table shown = fitted(table, has_clocks(forecasts) ? at_clocks : plain, width);
    text += "\n" + to_text(shown);
    std::vector<std::string> left_out;
    for (const Table::Head& head : table.heads) {
        if (!has_column(shown, head.key) && head.key != "evidence" && !head.key.ends_with("interval"))
            left_out.push_back(head.header);
    }
    if (!has_column(shown, "evidence")) {
        std::set<std::string> words;
        for (const Forecast& f : forecasts) words.insert(main_evidence(f.network));
        text += line("times are " + joined({words.begin(), words.end()}) +
                         (left_out.empty() ? "" : "; -v also shows " + joined(left_out)),
                     settings);
    }
    return text;
}

}  // namespace

std::string forecasts_to_text(const std::vector<Forecast>& forecasts, bool per_operation,
                              const TextSettings& settings) {
    std::string text = sources_text(forecasts, settings) + table_text(forecasts, settings);
    text += clock_curves_text(forecasts) + wrapped_lines(clock_notes_text(forecasts), settings);
    std::vector<HostBound> host_bound;
    for (const Forecast& f : forecasts) add_host_bound(f.network, host_bound);
    text += wrapped_lines(host_bound_words(host_bound), settings);
    std::set<std::string> reasons;
    for (const Forecast& f : forecasts) {
        if (!f.network.energy.known()) reasons.insert(f.network.energy_missing_reason);
    }
    for (const std::string& reason : reasons) text += line("energy –: " + reason, settings);
    text += wrapped_lines(hosts_text(forecasts), settings) + fusion_text(forecasts, settings) +
            physical_note(forecasts, settings);
    if (settings.verbose) {
        text += "memory = weights + inputs + peak activations\n";
        if (std::ranges::any_of(forecasts, [](const Forecast& f) { return f.network.precision == "default"; }))
            text += line(
                "precision default is PyTorch's: float32, with TF32 in convolutions where the card has it; "
                "strict: --precision fp32",
                settings);
    }
    reasons.clear();
    for (const Forecast& f : forecasts) reasons.insert(f.network.memory_missing_reason);
    for (const std::string& reason : reasons) {
        if (!reason.empty()) text += line("memory –: " + reason, settings);
    }
    if (per_operation) {
        for (const Forecast& f : forecasts) text += where_it_goes(f);
    }
    return text;
}

}  // namespace joulecast::cli
