#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/count_model.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/symbol_values.h"

namespace joulecast::cli {
namespace {

using Columns = std::vector<Column<CallCount>>;

struct Options {
    std::vector<std::string> models;
    std::vector<std::string> set;
    std::string mode;
    std::string precision;
    std::string device = "cuda";
    std::size_t top = 0;
    bool by_module = false;
    std::size_t depth = 2;
    std::string graph_file;
    bool bag = false;
    Output output;
};

/// What every format shows of some calls, in the order of the JSON keys.
const Columns& columns() {
    static const Columns list = {
        {"op", "operation", Show::text, [](const CallCount& e) { return e.op; }},
        {"signature", "signature", Show::text, [](const CallCount& e) { return e.signature; }},
        {"count", "calls", Show::count, [](const CallCount& e) { return e.count; }},
        {"flops", "FLOPs", Show::flop, [](const CallCount& e) { return e.forward.flop; }},
        {"other_flops", "other", Show::flop, [](const CallCount& e) { return e.forward.other_flop; }},
        {"bytes_read", "read", Show::bytes, [](const CallCount& e) { return e.forward.bytes_read; }},
        {"bytes_written", "written", Show::bytes, [](const CallCount& e) { return e.forward.bytes_written; }},
        {"backward_flops", "backward", Show::flop, [](const CallCount& e) { return e.backward.flop; }},
        {"backward_other_flops", "other", Show::flop, [](const CallCount& e) { return e.backward.other_flop; }},
        {"backward_bytes_read", "read", Show::bytes, [](const CallCount& e) { return e.backward.bytes_read; }},
        {"backward_bytes_written", "written", Show::bytes, [](const CallCount& e) { return e.backward.bytes_written; }},
        {"share", "share", Show::percent, [](const CallCount& e) { return e.share; }},
        {"family", "family", Show::text, [](const CallCount& e) { return e.family; }},
        {"has_record", "record", Show::text, [](const CallCount& e) { return e.has_record; }},
    };
    return list;
}

/// Of modules: all but what only an operation has.
Columns module_columns() {
    Columns list = {{"module", "module", Show::text, [](const CallCount& e) { return e.op; }}};
    for (const auto& column : columns()) {
        const bool of_operation = column.key == "op" || column.key == "signature" || column.key == "family";
        if (!of_operation) list.push_back(column);
    }
    return list;
}

std::string without_namespace(const std::string& target) {
    constexpr std::string_view aten = "aten::";
    return target.starts_with(aten) ? target.substr(aten.size()) : target;
}

/// What stands between the parentheses of a signature.
std::string inside(const std::string& signature) {
    const std::size_t open = signature.find('(');
    if (open == std::string::npos) return {};
    return signature.substr(open + 1, signature.size() - open - 2);
}

constexpr std::size_t narrow = 100;

/// "2x3x224x224 64x3x7x7": what tells the calls of one target apart where there is little room.
std::string sizes_only(const std::string& signature) {
    std::string text;
    const Operation operation = parse_operation(signature);
    for (const TensorType* tensor : tensors(operation)) {
        if (!text.empty()) text += ' ';
        for (std::size_t i = 0; i < tensor->sizes.size(); ++i)
            text += (i > 0 ? "x" : "") + std::to_string(tensor->sizes[i]);
    }
    return text;
}

/// The columns that a reader of tables wants; narrow terminals get fewer.
Columns brief_columns(bool modules, Mode mode, const Terminal& terminal) {
    constexpr std::size_t longest_name = 44;
    constexpr std::size_t longest_narrow_name = 16;
    const bool wide = terminal.width >= narrow;
    Columns list;
    list.push_back({"op", modules ? "module" : "operation", Show::text, [=](const CallCount& e) -> Cell {
                        if (e.op.empty()) return "(no module)";
                        return shortened(without_namespace(e.op), wide || modules ? longest_name : longest_narrow_name,
                                         terminal);
                    }});
    list.push_back({"count", "calls", Show::count, [](const CallCount& e) { return e.count; }});
    list.push_back({"flops", "FLOPs", Show::flop, [](const CallCount& e) { return e.forward.flop; }});
    if (mode == Mode::training)
        list.push_back({"backward", "backward", Show::flop, [](const CallCount& e) { return e.backward.flop; }});
    if (wide) list.push_back({"other", "other", Show::flop, [](const CallCount& e) { return other_flops(e); }});
    list.push_back({"bytes", "bytes", Show::bytes, [](const CallCount& e) { return bytes(e); }});
    list.push_back({"intensity", "FLOP/B", Show::number, [](const CallCount& e) { return intensity(e); }});
    list.push_back({"share", "share", Show::percent, [](const CallCount& e) { return e.share; }});
    const std::size_t bar_width = wide || modules ? 16 : 4;
    list.push_back({"bar", "", Show::text, [=](const CallCount& e) -> Cell {
                        return e.op == "total" ? std::string() : share_bar(e.share, bar_width, terminal);
                    }});
    return list;
}

/// The width of the table's first line.
std::size_t width(const Table& table) {
    const std::string text = to_text(table);
    const std::size_t first = text.find('\n') + 1;
    return display_width(std::string_view(text).substr(first, text.find('\n', first) - first));
}

/// The columns, and the tensors of an operation in the room that they leave.
std::string table_text(Columns columns, const std::vector<CallCount>& lines, bool modules, const Terminal& terminal) {
    constexpr std::size_t least = 10;
    const std::size_t taken = width(fill(columns, lines)) + 2;
    if (!modules && terminal.width >= taken + least) {
        columns.push_back({"tensors", "tensors", Show::text, [=](const CallCount& e) -> Cell {
                               if (e.signature.empty()) return std::string();
                               const std::string text =
                                   terminal.width < narrow ? sizes_only(e.signature) : inside(e.signature);
                               return shortened(text, terminal.width - taken, terminal);
                           }});
    }
    return coloured(joulecast::to_text(fill(columns, lines)), terminal);
}

bool is_dearer(const CallCount& a, const CallCount& b) {
    return std::pair(flops(a), bytes(a)) > std::pair(flops(b), bytes(b));
}

/// The `top` dearest, in the order in which they stand; all when top is 0.
std::vector<CallCount> dearest(const std::vector<CallCount>& all, std::size_t top) {
    if (top == 0 || top >= all.size()) return all;
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return is_dearer(all[a], all[b]); });
    order.resize(top);
    std::ranges::sort(order);
    std::vector<CallCount> kept;
    for (const std::size_t i : order) kept.push_back(all[i]);
    return kept;
}

std::string to_text(const ModelCount& model, const Options& options) {
    const Terminal screen = terminal(options.output);
    const std::vector<CallCount> all = options.by_module ? count_modules(model, options.depth) : model.operations;
    std::vector<CallCount> lines = dearest(all, options.top);
    // Modules stay in the network's order.
    if (!options.by_module) std::ranges::stable_sort(lines, is_dearer);
    double left = 1;
    for (const CallCount& line : lines) left -= line.share;
    const std::size_t hidden = all.size() - lines.size();
    lines.push_back(model.total);
    std::string text =
        model.graph.name + " (" + settings_text(model.graph) + "): " + std::to_string(model.total.count) + " calls, " +
        std::to_string(model.operations.size()) + " different operations\n\n" +
        table_text(brief_columns(options.by_module, model.graph.mode, screen), lines, options.by_module, screen);
    if (hidden > 0) {
        text += "and " + std::to_string(hidden) + " more with " + show(std::max(0.0, left), Show::percent) +
                " of the FLOPs\n";
    }
    const std::string missing = missing_records_text({&model});
    return missing.empty() ? text : text + "\n" + missing;
}

nlohmann::ordered_json to_json(const ModelCount& model, const Options& options) {
    nlohmann::ordered_json precision;  // null: as in the file
    if (!options.precision.empty()) precision = options.precision;
    const Counts& forward = model.total.forward;
    const Counts& backward = model.total.backward;
    nlohmann::ordered_json answer{{"model", model.graph.name},
                                  {"symbols", symbol_values(model.graph)},
                                  {"mode", name(model.graph.mode)},
                                  {"precision", std::move(precision)},
                                  {"nodes", model.total.count},
                                  {"nodes_without_record", model.nodes_without_record},
                                  {"flops", forward.flop},
                                  {"other_flops", forward.other_flop},
                                  {"backward_flops", backward.flop},
                                  {"backward_other_flops", backward.other_flop},
                                  {"bytes_read", forward.bytes_read},
                                  {"bytes_written", forward.bytes_written},
                                  {"backward_bytes_read", backward.bytes_read},
                                  {"backward_bytes_written", backward.bytes_written}};
    answer["operations"] = nlohmann::ordered_json::parse(
        joulecast::to_json(fill(columns(), dearest(model.operations, options.by_module ? 0 : options.top))));
    if (options.by_module)
        answer["modules"] = nlohmann::ordered_json::parse(
            joulecast::to_json(fill(module_columns(), dearest(count_modules(model, options.depth), options.top))));
    return answer;
}

std::string to_csv(const std::vector<ModelCount>& models, const Options& options) {
    Columns with_model = {{"model", "model", Show::text, [](const CallCount& e) { return e.model; }}};
    const Columns own = options.by_module ? module_columns() : columns();
    with_model.insert(with_model.end(), own.begin(), own.end());
    std::vector<CallCount> lines;
    for (const ModelCount& model : models) {
        const auto all = options.by_module ? count_modules(model, options.depth) : model.operations;
        for (CallCount& line : dearest(all, options.top)) lines.push_back(std::move(line));
    }
    return joulecast::to_csv(fill(with_model, lines));
}

std::string printed(const std::vector<ModelCount>& models, const Options& options) {
    if (options.output.format == "csv") return to_csv(models, options);
    if (options.output.format == "json") {
        nlohmann::ordered_json answer{{"schema", "joulecast.extract/1"}, {"models", nlohmann::ordered_json::array()}};
        for (const ModelCount& model : models) answer["models"].push_back(to_json(model, options));
        return answer.dump(2) + '\n';
    }
    std::string text;
    for (const ModelCount& model : models) text += (text.empty() ? "" : "\n") + to_text(model, options);
    return text;
}

void write_graph(const std::vector<ModelCount>& models, const Options& options) {
    if (models.size() != 1) throw UsageError("--graph takes one model at one setting");
    Output file;
    file.file = options.graph_file;
    const Graph& graph = models.front().graph;
    file.write(graph_to_json(options.bag ? without_edges(graph) : graph, GraphText::file));
}

/// As it computes; what has no precision asked for stays as its file has it.
Graph graph_at(const Graph& graph, const Options& options) {
    if (options.precision.empty()) return graph;
    const Device::Kind kind = options.device == "cpu" ? Device::Kind::cpu : Device::Kind::gpu;
    return at_precision(graph, precision_named(options.precision), graph.mode, kind);
}

void tell_lines(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) tell(line);
}

int run(const Options& options) {
    if (options.bag && options.graph_file.empty()) throw UsageError("--bag needs --graph");
    std::vector<ModelCount> models;
    for (const std::string& model : options.models) {
        for (const SymbolValues& values : parse_settings(options.set)) {
            const Graph graph = open_graph(model, values, options.mode);
            models.push_back(count_model(graph_at(graph, options)));
        }
    }
    if (!options.graph_file.empty()) write_graph(models, options);
    options.output.write(printed(models, options));
    std::vector<const ModelCount*> all;
    for (const ModelCount& model : models) all.push_back(&model);
    const std::string missing = missing_records_text(all);
    // A table names them below itself.
    if (options.output.format != "table") tell_lines(missing);
    return static_cast<int>(missing.empty() ? done : parts_unknown);
}

}  // namespace

Run declare_extract(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    command.add_option("MODEL", options->models, ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50")
        ->required();
    command.option_defaults()->group("Network");
    command.add_option("--set", options->set, "size of the network, such as batch=1,8,32; once for each symbol")
        ->type_name("SYMBOL=N,...")
        ->allow_extra_args(false);
    command
        .add_option("--mode", options->mode,
                    "training adds the backward pass (default: inference, or what a .graph.json with gradient marks "
                    "says)")
        ->check(CLI::IsMember({"inference", "training"}));
    auto* precision =
        command.add_option("--precision", options->precision, precision_words() + " (default: the types in the file)")
            ->type_name("NAME");
    command.add_option("--device", options->device, "kind of device that autocast inserts casts for")
        ->needs(precision)
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->capture_default_str();
    command.option_defaults()->group("Output");
    command.add_option("--top", options->top, "show only the N most expensive operations or modules")
        ->check(CLI::PositiveNumber);
    auto* by_module = command.add_flag("--by-module", options->by_module, "add up the operations of each module");
    command.add_option("--depth", options->depth, "with --by-module: parts of the module's path to tell apart")
        ->needs(by_module)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--graph", options->graph_file, "also write the graph to this file")
        ->type_name("FILE.graph.json");
    command.add_flag("--bag", options->bag, "with --graph: unique operations with counts, no edges");
    options->output.declare(command);
    return [options] { return run(*options); };
}

}  // namespace joulecast::cli
