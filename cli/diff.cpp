#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/count_model.h"
#include "cli/diff_databases.h"
#include "cli/match_calls.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::string before;
    std::string after;
    std::vector<std::string> set;
    std::vector<std::string> set_after;
    std::string mode;
    std::size_t top = 0;
    Output output;
};

/// One line: some calls before, what became of them, and what both cost. An absent side has no calls.
struct Difference {
    std::string kind;
    CallCount before;
    CallCount after;
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
};

Compared compare(Graph before, Graph after) {
    Compared result{count_model(std::move(before)), count_model(std::move(after)), {}, {}};
    const std::string& name_before = result.before.graph.name;
    for (const CallChange& change : match_calls(result.before.graph, result.after.graph)) {
        if (change.calls_before == change.calls_after && signature(*change.before) == signature(*change.after)) {
            add(result.unchanged, count_calls(*change.before, change.calls_before, name_before));
            continue;
        }
        Difference difference;
        difference.kind = kind_of(change);
        if (change.before) difference.before = count_calls(*change.before, change.calls_before, name_before);
        if (change.after) difference.after = count_calls(*change.after, change.calls_after, result.after.graph.name);
        result.differences.push_back(std::move(difference));
    }
    std::ranges::stable_sort(result.differences, differs_more);
    return result;
}

const std::string& op(const Difference& d) {
    return d.after.op.empty() ? d.before.op : d.after.op;
}

Cell text_or_nothing(const std::string& text) {
    if (text.empty()) return {};
    return text;
}

/// What every format shows, in the order of the JSON keys.
const std::vector<Column<Difference>>& columns() {
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

std::vector<Column<Difference>> table_columns(const Terminal& screen) {
    constexpr std::size_t longest_name = 32;
    return {
        {"kind", "", Show::text, [](const Difference& d) { return d.kind; }},
        {"op", "operation", Show::text,
         [=](const Difference& d) {
             const std::string now = without_namespace(op(d));
             const bool renamed = d.kind == "changed" && d.before.op != d.after.op;
             return shortened(renamed ? without_namespace(d.before.op) + arrow(screen) + now : now, longest_name,
                              screen);
         }},
        {"calls", "calls", Show::text, [=](const Difference& d) { return calls_text(d, screen); }},
        {"flops_before", "FLOPs", Show::flop, [](const Difference& d) { return of_calls(d.before, flops); }},
        {"flops_after", "after", Show::flop, [](const Difference& d) { return of_calls(d.after, flops); }},
        {"bytes_before", "bytes", Show::bytes, [](const Difference& d) { return of_calls(d.before, bytes); }},
        {"bytes_after", "after", Show::bytes, [](const Difference& d) { return of_calls(d.after, bytes); }},
    };
}

std::vector<Difference> shown(const Compared& compared, std::size_t top) {
    std::vector<Difference> lines = compared.differences;
    if (top > 0 && top < lines.size()) lines.resize(top);
    return lines;
}

std::string table_text(const Compared& compared, const Options& options) {
    const Terminal screen = terminal(options.output);
    std::vector<Difference> lines = shown(compared, options.top);
    const std::size_t hidden = compared.differences.size() - lines.size();
    lines.push_back({"unchanged", compared.unchanged, compared.unchanged});
    lines.push_back({"total", compared.before.total, compared.after.total});
    lines.back().before.op = lines.back().after.op = "";
    auto columns = table_columns(screen);
    const std::string bare = joulecast::to_text(fill(columns, lines));
    const std::size_t rule = bare.find('\n') + 1;
    const std::size_t taken = display_width(std::string_view(bare).substr(rule, bare.find('\n', rule) - rule)) + 2;
    constexpr std::size_t least = 24;
    if (screen.width >= taken + least) {
        columns.push_back({"arguments", "arguments", Show::text, [=](const Difference& d) {
                               return shortened(arguments_text(d, screen), screen.width - taken, screen);
                           }});
    }
    std::string text = joulecast::to_text(fill(columns, lines));
    if (hidden > 0) text += "and " + std::to_string(hidden) + " more differences\n";
    return text;
}

std::string heading(const Compared& compared, const Options& options) {
    const Terminal screen = terminal(options.output);
    const auto one = [](const std::string& model, const Graph& graph) {
        return model + " (" + settings_text(graph) + ")";
    };
    const std::string both =
        one(options.before, compared.before.graph) + arrow(screen) + one(options.after, compared.after.graph);
    if (compared.differences.empty())
        return both + ": the same " + std::to_string(compared.before.total.count) + " calls\n";
    const auto count = compared.differences.size();
    return both + ": " + std::to_string(count) + (count == 1 ? " difference\n\n" : " differences\n\n");
}

Json model_json(const ModelCount& model) {
    Json symbols = Json::object();
    for (const auto& [symbol, value] : model.graph.symbols) symbols[symbol] = value.value;
    return {{"model", model.graph.name},
            {"symbols", std::move(symbols)},
            {"mode", name(model.graph.mode)},
            {"nodes", model.total.count},
            {"nodes_without_record", model.nodes_without_record},
            {"flops", flops(model.total)},
            {"other_flops", other_flops(model.total)},
            {"bytes", bytes(model.total)}};
}

std::string printed(const Compared& compared, const Options& options) {
    if (options.output.format == "csv") return to_csv(fill(columns(), shown(compared, options.top)));
    if (options.output.format == "json") {
        const Json answer{{"schema", "joulecast.diff/1"},
                          {"before", model_json(compared.before)},
                          {"after", model_json(compared.after)},
                          {"equal", compared.differences.empty()},
                          {"unchanged_calls", compared.unchanged.count},
                          {"differences", Json::parse(to_json(fill(columns(), shown(compared, options.top))))}};
        return answer.dump(2) + '\n';
    }
    std::string text = heading(compared, options);
    if (!compared.differences.empty()) text += table_text(compared, options);
    const std::string missing = missing_records_text({&compared.before, &compared.after});
    return missing.empty() ? text : text + "\n" + missing;
}

Graph open(const std::string& model, const std::vector<std::string>& set, const std::string& mode) {
    const auto combinations = parse_settings(set);
    if (combinations.size() != 1) throw UsageError("diff compares at one value of every symbol");
    return open_graph(model, combinations.front(), mode);
}

int run(const Options& options) {
    const int databases = (is_database(options.before) ? 1 : 0) + (is_database(options.after) ? 1 : 0);
    if (databases == 1) throw UsageError("a database can be compared with another database only");
    if (databases == 2) return diff_databases(options.before, options.after, options.top, options.output);
    const auto& set_after = options.set_after.empty() ? options.set : options.set_after;
    const Compared compared =
        compare(open(options.before, options.set, options.mode), open(options.after, set_after, options.mode));
    options.output.write(printed(compared, options));
    const std::string missing = missing_records_text({&compared.before, &compared.after});
    if (options.output.format != "table") std::cerr << missing;
    return static_cast<int>(missing.empty() ? done : parts_unknown);
}

}  // namespace

Run declare_diff(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    command.add_option("A", options->before, "a .pt2, .onnx or .graph.json file, a name of the zoo, or a database")
        ->required();
    command.add_option("B", options->after, "the model, or the database, it is compared with")->required();
    command.add_option("--set", options->set, "value of a symbol in both, as in batch=8")->allow_extra_args(false);
    command.add_option("--set-b", options->set_after, "value of a symbol in B, in place of --set")
        ->allow_extra_args(false);
    command.add_option("--mode", options->mode, "inference or training (forward and backward)")
        ->check(CLI::IsMember({"inference", "training"}));
    command.add_option("--top", options->top, "only this many of the largest differences")->check(CLI::PositiveNumber);
    options->output.declare(command);
    return [options] { return run(*options); };
}

}  // namespace joulecast::cli
