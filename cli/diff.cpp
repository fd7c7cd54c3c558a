#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/count_model.h"
#include "cli/diff_costs.h"
#include "cli/diff_databases.h"
#include "cli/json_tree.h"
#include "cli/known.h"
#include "cli/match_calls.h"
#include "cli/setting_options.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "joulecast/answer/session.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/symbol_values.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DiffOptions {
    std::string before;
    std::string after;
    std::vector<std::string> set;
    std::vector<std::string> set_after;
    std::string mode;
    std::size_t top = 0;
    std::string device;
    std::string predictor;
    std::string database;
    std::string precision = "default";
    std::string host = "python";
    Output output;
};

/// One line: some calls before, what became of them, and what both cost. An absent side has no calls.
struct Difference {
    std::string kind;
    CallCount before;
    CallCount after;
    /// Of all its calls; not known without --device.
    CallsCost cost_before{};
    CallsCost cost_after{};
};

std::int64_t distance(std::int64_t a, std::int64_t b) {
    return a > b ? a - b : b - a;
}

bool differs_more(const Difference& a, const Difference& b) {
    const auto key = [](const Difference& d) {
        return std::pair(distance(flops(d.before), flops(d.after)), distance(bytes(d.before), bytes(d.after)));
    };
    return key(a) > key(b);
}

double seconds_more(const Difference& d) {
    const auto known_or_none = [](double seconds) { return std::isnan(seconds) ? 0 : seconds; };
    return known_or_none(d.cost_after.time_s) - known_or_none(d.cost_before.time_s);
}

std::string kind_of(const CallChange& change) {
    if (change.calls_before == 0) return "added";
    if (change.calls_after == 0) return "dropped";
    return signature(*change.before) == signature(*change.after) ? "count" : "changed";
}

struct Compared {
    ModelCount before;
    ModelCount after;
    std::vector<Difference> differences;
    CallCount unchanged;
    CallsCost unchanged_cost{0, 0};
    /// Null without --device.
    std::unique_ptr<const DiffCosts> costs;
};

/// What the calls of a line take, dearest differences first.
void add_costs(Compared& compared) {
    for (Difference& d : compared.differences) {
        d.cost_before = compared.costs->before(d.before.signature, d.before.count);
        d.cost_after = compared.costs->after(d.after.signature, d.after.count);
    }
    std::ranges::stable_sort(compared.differences, [](const Difference& a, const Difference& b) {
        return std::abs(seconds_more(a)) > std::abs(seconds_more(b));
    });
}

Compared compare(Graph before, Graph after, std::unique_ptr<const DiffCosts> costs) {
    Compared result{count_model(std::move(before)), count_model(std::move(after)), {}, {}, {0, 0}, std::move(costs)};
    const std::string& name_before = result.before.graph.name;
    for (const CallChange& change : match_calls(result.before.graph, result.after.graph)) {
        if (change.calls_before == change.calls_after && signature(*change.before) == signature(*change.after)) {
            const CallCount same = count_calls(*change.before, change.calls_before, name_before);
            add(result.unchanged, same);
            if (result.costs) {
                const CallsCost cost = result.costs->before(same.signature, same.count);
                result.unchanged_cost.time_s += cost.time_s;
                result.unchanged_cost.energy_j += cost.energy_j;
            }
            continue;
        }
        Difference difference;
        difference.kind = kind_of(change);
        if (change.before) difference.before = count_calls(*change.before, change.calls_before, name_before);
        if (change.after) difference.after = count_calls(*change.after, change.calls_after, result.after.graph.name);
        result.differences.push_back(std::move(difference));
    }
    std::ranges::stable_sort(result.differences, differs_more);
    if (result.costs) add_costs(result);
    return result;
}

const std::string& op(const Difference& d) {
    return d.after.op.empty() ? d.before.op : d.after.op;
}

Cell text_or_nothing(const std::string& text) {
    if (text.empty()) return {};
    return text;
}

/// Of the lines where there is a device.
const std::vector<Column<Difference>>& cost_columns() {
    static const std::vector<Column<Difference>> list = {
        {"time_s_before", "time", Show::seconds, [](const Difference& d) { return known(d.cost_before.time_s); }},
        {"time_s_after", "after", Show::seconds, [](const Difference& d) { return known(d.cost_after.time_s); }},
        {"energy_j_before", "energy", Show::joules, [](const Difference& d) { return known(d.cost_before.energy_j); }},
        {"energy_j_after", "after", Show::joules, [](const Difference& d) { return known(d.cost_after.energy_j); }},
    };
    return list;
}

/// What every format shows, in the order of the JSON keys.
const std::vector<Column<Difference>>& difference_columns() {
    static const std::vector<Column<Difference>> list = {
        {"kind", "", Show::text, [](const Difference& d) { return d.kind; }},
        {"op", "", Show::text, [](const Difference& d) { return op(d); }},
        {"signature_before", "", Show::text, [](const Difference& d) { return text_or_nothing(d.before.signature); }},
        {"signature_after", "", Show::text, [](const Difference& d) { return text_or_nothing(d.after.signature); }},
        {"calls_before", "", Show::count, [](const Difference& d) { return d.before.count; }},
        {"calls_after", "", Show::count, [](const Difference& d) { return d.after.count; }},
        {"flops_before", "", Show::flop, [](const Difference& d) { return flops(d.before); }},
        {"flops_after", "", Show::flop, [](const Difference& d) { return flops(d.after); }},
        {"other_flops_before", "", Show::flop, [](const Difference& d) { return other_flops(d.before); }},
        {"other_flops_after", "", Show::flop, [](const Difference& d) { return other_flops(d.after); }},
        {"bytes_before", "", Show::bytes, [](const Difference& d) { return bytes(d.before); }},
        {"bytes_after", "", Show::bytes, [](const Difference& d) { return bytes(d.after); }},
        {"has_record", "", Show::text, [](const Difference& d) { return d.before.has_record && d.after.has_record; }},
    };
    return list;
}

std::vector<Column<Difference>> columns_of(const Compared& compared) {
    std::vector<Column<Difference>> list = difference_columns();
    if (compared.costs) list.insert(list.end(), cost_columns().begin(), cost_columns().end());
    return list;
}

std::string arrow(const Terminal& terminal) {
    return terminal.utf8 ? " → " : " -> ";
}

std::string calls_text(const Difference& d, const Terminal& terminal) {
    if (d.before.count == d.after.count) return std::to_string(d.before.count);
    return std::to_string(d.before.count) + arrow(terminal) + std::to_string(d.after.count);
}

std::string inside(const std::string& signature) {
    const std::size_t open = signature.find('(');
    return open == std::string::npos ? std::string() : signature.substr(open + 1, signature.size() - open - 2);
}

/// "weight=f32[64,3,7,7] → f32[64,3,3,3], stride=[2,2] → default": the arguments that differ.
std::string arguments_text(const Difference& d, const Terminal& terminal) {
    if (d.kind != "changed") return inside(d.after.signature.empty() ? d.before.signature : d.after.signature);
    std::string text;
    for (const ArgumentChange& change : changed_arguments(d.before.signature, d.after.signature)) {
        text += (text.empty() ? "" : ", ") + change.name + "=";
        text += (change.before.empty() ? "default" : change.before) + arrow(terminal);
        text += change.after.empty() ? "default" : change.after;
    }
    return text;
}

std::string without_namespace(const std::string& target) {
    constexpr std::string_view aten = "aten::";
    return target.starts_with(aten) ? target.substr(aten.size()) : target;
}

/// Nothing where there are no calls: an added operation had no cost before, not a cost of 0.
Cell of_calls(const CallCount& calls, std::int64_t (*cost)(const CallCount&)) {
    if (calls.count == 0) return {};
    return cost(calls);
}

std::vector<Column<Difference>> table_columns(const Terminal& screen, bool with_costs) {
    constexpr std::size_t longest_name = 32;
    std::vector<Column<Difference>> list = {
        {"kind", "", Show::text, [](const Difference& d) { return d.kind; }},
        {"op", "operation", Show::text,
         [=](const Difference& d) {
             const std::string now = without_namespace(op(d));
             const bool renamed = d.kind == "changed" && d.before.op != d.after.op;
             return shortened(renamed ? without_namespace(d.before.op) + arrow(screen) + now : now, longest_name,
                              screen);
         }},
        {"calls", "calls", Show::text, [=](const Difference& d) { return calls_text(d, screen); }},
    };
    const std::vector<Column<Difference>> counts = {
        {"flops_before", "FLOPs", Show::flop, [](const Difference& d) { return of_calls(d.before, flops); }},
        {"flops_after", "after", Show::flop, [](const Difference& d) { return of_calls(d.after, flops); }},
        {"bytes_before", "bytes", Show::bytes, [](const Difference& d) { return of_calls(d.before, bytes); }},
        {"bytes_after", "after", Show::bytes, [](const Difference& d) { return of_calls(d.after, bytes); }},
    };
    const auto& further = with_costs ? cost_columns() : counts;
    list.insert(list.end(), further.begin(), further.end());
    return list;
}

/// Of the operations, before host and device overlap: what networks take stands below the table.
Difference total_line(const Compared& compared) {
    Difference total{"total", compared.before.total, compared.after.total, compared.unchanged_cost,
                     compared.unchanged_cost};
    total.before.op = total.after.op = "";
    for (const Difference& d : compared.differences) {
        const auto add_known = [](double& sum, double part) { sum += std::isnan(part) ? 0 : part; };
        add_known(total.cost_before.time_s, d.cost_before.time_s);
        add_known(total.cost_after.time_s, d.cost_after.time_s);
        add_known(total.cost_before.energy_j, d.cost_before.energy_j);
        add_known(total.cost_after.energy_j, d.cost_after.energy_j);
    }
    return total;
}

std::vector<Difference> shown(const Compared& compared, std::size_t top) {
    std::vector<Difference> lines = compared.differences;
    if (top > 0 && top < lines.size()) lines.resize(top);
    return lines;
}

std::string table_text(const Compared& compared, const DiffOptions& options) {
    const Terminal screen = terminal(options.output);
    std::vector<Difference> lines = shown(compared, options.top);
    const std::size_t hidden = compared.differences.size() - lines.size();
    lines.push_back(
        {"unchanged", compared.unchanged, compared.unchanged, compared.unchanged_cost, compared.unchanged_cost});
    lines.push_back(total_line(compared));
    auto columns = table_columns(screen, compared.costs != nullptr);
    const auto width_taken = [&] {
        const std::string bare = joulecast::to_text(fill(columns, lines));
        const std::size_t rule = bare.find('\n') + 1;
        return display_width(std::string_view(bare).substr(rule, bare.find('\n', rule) - rule)) + 2;
    };
    // What differs is worth more than the second quantity before and after.
    constexpr std::size_t least = 24;
    constexpr std::size_t with_one_quantity = 5;
    std::size_t taken = width_taken();
    while (screen.width < taken + least && columns.size() > with_one_quantity) {
        columns.pop_back();
        taken = width_taken();
    }
    if (screen.width >= taken + least) {
        columns.push_back({"arguments", "arguments", Show::text, [=](const Difference& d) {
                               return shortened(arguments_text(d, screen), screen.width - taken, screen);
                           }});
    }
    std::string text = joulecast::to_text(fill(columns, lines));
    if (hidden > 0) text += "and " + std::to_string(hidden) + " more differences\n";
    return text;
}

std::string heading(const Compared& compared, const DiffOptions& options) {
    const Terminal screen = terminal(options.output);
    const auto named = [](const std::string& model, const Graph& graph) {
        return model + " (" + settings_text(graph) + ")";
    };
    const std::string both =
        named(options.before, compared.before.graph) + arrow(screen) + named(options.after, compared.after.graph);
    if (compared.differences.empty())
        return both + ": the same " + std::to_string(compared.before.total.count) + " calls\n";
    const auto count = compared.differences.size();
    return both + ": " + std::to_string(count) + (count == 1 ? " difference\n\n" : " differences\n\n");
}

Json model_json(const ModelCount& model) {
    return {{"model", model.graph.name},
            {"symbols", symbol_values(model.graph)},
            {"mode", name(model.graph.mode)},
            {"nodes", model.total.count},
            {"nodes_without_record", model.nodes_without_record},
            {"flops", flops(model.total)},
            {"other_flops", other_flops(model.total)},
            {"bytes", bytes(model.total)}};
}

std::string text_of(const Compared& compared, const DiffOptions& options) {
    const auto list = columns_of(compared);
    if (options.output.format == "csv") return to_csv(fill(list, shown(compared, options.top)));
    if (options.output.format == "json") {
        Json answer{{"schema", "joulecast.diff/1"},
                    {"before", model_json(compared.before)},
                    {"after", model_json(compared.after)},
                    {"equal", compared.differences.empty()},
                    {"unchanged_calls", compared.unchanged.count},
                    {"differences", rows_json(fill(list, shown(compared, options.top)))}};
        if (compared.costs) answer["forecast"] = compared.costs->to_json();
        return printed(answer);
    }
    std::string text = heading(compared, options);
    if (!compared.differences.empty()) text += table_text(compared, options);
    if (compared.costs) text += "\n" + compared.costs->to_text(arrow(terminal(options.output)));
    const std::string missing = missing_records_text({&compared.before, &compared.after});
    return missing.empty() ? text : text + "\n" + missing;
}

Graph open(const std::string& model, const std::vector<std::string>& set, const std::string& mode) {
    const auto combinations = parse_settings(set);
    if (combinations.size() != 1) throw UsageError("diff takes one value for each symbol");
    return open_graph(model, combinations.front(), mode);
}

Compared compare_as_asked(const DiffOptions& options, Graph before, Graph after) {
    if (options.device.empty()) return compare(std::move(before), std::move(after), nullptr);
    if (before.mode != after.mode)
        throw UsageError("one network is in training mode, the other is not. Choose with --mode");
    Question question;
    question.modes = {before.mode};
    question.graphs = {std::make_shared<const Graph>(std::move(before)),
                       std::make_shared<const Graph>(std::move(after))};
    question.precisions = {options.precision};
    question.hosts = {parse_host(options.host).value()};
    question.devices = {device_at_clock(options.device)};
    question.keeps_graphs = true;
    Session session(for_one_question(options.predictor, options.database));
    Answer answer = session.answer(question, tell);
    Forecast& first = answer.forecasts.front();
    Forecast& second = answer.forecasts.back();
    Graph ready_before = *first.graph, ready_after = *second.graph;
    const DeviceModel& model = *first.model;
    return compare(std::move(ready_before), std::move(ready_after),
                   std::make_unique<const DiffCosts>(std::move(first), std::move(second), model));
}

/// What the readers of both graphs have to say, each sentence once.
void tell_notes(const Graph& before, const Graph& after) {
    std::set<std::string> told;
    for (const Graph* graph : {&before, &after}) {
        for (const std::string& note : notes_of(*graph))
            if (told.insert(note).second) tell(note);
    }
}

int run_diff(const DiffOptions& options) {
    const int databases = (is_database(options.before) ? 1 : 0) + (is_database(options.after) ? 1 : 0);
    if (databases == 1) throw UsageError("diff compares a database only with a database");
    const bool is_about_networks =
        !options.device.empty() || !options.set.empty() || !options.set_after.empty() || !options.mode.empty();
    if (databases == 2 && is_about_networks)
        throw UsageError("--device, --set, --set-b and --mode are for networks, not for databases");
    if (databases == 2) return diff_databases(options.before, options.after, options.top, options.output);
    const auto& set_after = options.set_after.empty() ? options.set : options.set_after;
    Graph before = open(options.before, options.set, options.mode);
    Graph after = open(options.after, set_after, options.mode);
    tell_notes(before, after);
    const Compared compared = compare_as_asked(options, std::move(before), std::move(after));
    options.output.write(text_of(compared, options));
    const std::string missing = missing_records_text({&compared.before, &compared.after});
    if (options.output.format != "table") std::cerr << missing;
    return static_cast<int>(missing.empty() ? done : parts_unknown);
}

}  // namespace

Run declare_diff(CLI::App& command) {
    const auto options = std::make_shared<DiffOptions>();
    command.add_option("A", options->before, "model (.pt2, .onnx, .graph.json, or a zoo name), or a database")
        ->required();
    command.add_option("B", options->after, "the model or database to compare with A")->required();
    command.option_defaults()->group("Networks");
    command.add_option("--set", options->set, "size of both networks, such as batch=8; once for each symbol")
        ->type_name("SYMBOL=N")
        ->allow_extra_args(false);
    command.add_option("--set-b", options->set_after, "size of B, in place of --set")
        ->type_name("SYMBOL=N")
        ->allow_extra_args(false);
    command.add_option("--mode", options->mode, "training adds the backward pass")
        ->check(CLI::IsMember({"inference", "training"}));
    command.option_defaults()->group("Output");
    command.add_option("--top", options->top, "show only the N largest differences")->check(CLI::PositiveNumber);
    command.option_defaults()->group("Costs on a device");
    auto* device = command.add_option("--device", options->device,
                                      "forecast both networks on it: ID or ID@SM_MHZ/MEMORY_MHZ; cpu is this machine");
    device->type_name("ID");
    command
        .add_option("--predictor", options->predictor, "predictor (default: the shipped one that covers the device)")
        ->type_name("FILE.jcp")
        ->needs(device);
    command.add_option("--db", options->database, "database; its operations count as measured")
        ->type_name("FILE.db")
        ->needs(device);
    command.add_option("--precision", options->precision, "one of " + precision_words())
        ->type_name("NAME")
        ->needs(device)
        ->capture_default_str();
    command.add_option("--host", options->host, "what issues the calls: Python, C++ or a CUDA graph")
        ->needs(device)
        ->check(CLI::IsMember({"python", "cpp", "graph"}))
        ->capture_default_str();
    options->output.declare(command);
    return [options] { return run_diff(*options); };
}

}  // namespace joulecast::cli
