#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/count_model.h"
#include "cli/extraction.h"
#include "cli/json_tree.h"
#include "cli/setting_options.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "joulecast/device/precision.h"

namespace joulecast::cli {
namespace {

using Columns = std::vector<Column<CallCount>>;

struct ExtractOptions {
    ExtractRequest request;
    std::string memory_format = "contiguous";
    std::vector<std::string> set;
    Output output;
};

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

std::string to_text(const ModelCount& model, const ExtractOptions& options) {
    const Terminal screen = terminal(options.output);
    const std::vector<CallCount> calls =
        options.request.by_module ? count_modules(model, options.request.depth) : model.operations;
    std::vector<CallCount> lines = dearest(calls, options.request.top);
    // Modules stay in the network's order.
    if (!options.request.by_module) std::ranges::stable_sort(lines, is_dearer);
    double left = 1;
    for (const CallCount& line : lines) left -= line.share;
    const std::size_t hidden = calls.size() - lines.size();
    lines.push_back(model.total);
    std::string text = model.graph.name + " (" + settings_text(model.graph) +
                       "): " + std::to_string(model.total.count) + " calls, " +
                       std::to_string(model.operations.size()) + " different operations\n\n" +
                       table_text(brief_columns(options.request.by_module, model.graph.mode, screen), lines,
                                  options.request.by_module, screen);
    if (hidden > 0) {
        text += "and " + std::to_string(hidden) + " more with " + show(std::max(0.0, left), Show::percent) +
                " of the FLOPs\n";
    }
    const std::string missing = missing_records_text({&model});
    return missing.empty() ? text : text + "\n" + missing;
}

std::string to_csv(const std::vector<ModelCount>& models, const ExtractOptions& options) {
    Columns with_model = {{"model", "model", Show::text, [](const CallCount& e) { return e.model; }}};
    const Columns own = options.request.by_module ? module_columns() : call_columns();
    with_model.insert(with_model.end(), own.begin(), own.end());
    std::vector<CallCount> lines;
    for (const ModelCount& model : models) {
        const auto calls = options.request.by_module ? count_modules(model, options.request.depth) : model.operations;
        for (CallCount& line : dearest(calls, options.request.top)) lines.push_back(std::move(line));
    }
    return joulecast::to_csv(fill(with_model, lines));
}

std::string answer(const std::vector<ModelCount>& models, const ExtractOptions& options) {
    if (options.output.format == "csv") return to_csv(models, options);
    if (options.output.format == "json") return printed(extraction_json(models, options.request));
    std::string text;
    for (const ModelCount& model : models) text += (text.empty() ? "" : "\n") + to_text(model, options);
    return text;
}

void tell_lines(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) tell(line);
}

int run_extract(const ExtractOptions& options) {
    ExtractRequest request = options.request;
    request.sizes = parse_settings(options.set);
    request.memory_format = parse_memory_format(options.memory_format).value();
    const std::vector<ModelCount> models = count_models(request, tell);
    options.output.write(answer(models, options));
    const std::string missing = missing_records_text(pointers(models));
    // A table names them below itself.
    if (options.output.format != "table") tell_lines(missing);
    return static_cast<int>(missing.empty() ? done : parts_unknown);
}

}  // namespace

Run declare_extract(CLI::App& command) {
    const auto options = std::make_shared<ExtractOptions>();
    command
        .add_option("MODEL", options->request.models, ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50")
        ->required();
    command.option_defaults()->group("Network");
    command.add_option("--set", options->set, "size of the network, such as batch=1,8,32; once for each symbol")
        ->type_name("SYMBOL=N,...")
        ->allow_extra_args(false);
    command
        .add_option("--mode", options->request.mode,
                    "training adds the backward pass (default: inference, or what a .graph.json with gradient marks "
                    "says)")
        ->check(CLI::IsMember({"inference", "training"}));
    command
        .add_option("--precision", options->request.precision, precision_words() + " (default: the types in the file)")
        ->type_name("NAME");
    command.add_option("--device", options->request.device, "kind of device that casts and copies are inserted for")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->capture_default_str();
    declare_memory_format(command, options->memory_format);
    command.option_defaults()->group("Output");
    command.add_option("--top", options->request.top, "show only the N most expensive operations or modules")
        ->check(CLI::PositiveNumber);
    auto* by_module =
        command.add_flag("--by-module", options->request.by_module, "add up the operations of each module");
    command.add_option("--depth", options->request.depth, "with --by-module: parts of the module's path to tell apart")
        ->needs(by_module)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--graph", options->request.graph_file, "also write the graph to this file")
        ->type_name("FILE.graph.json");
    command.add_flag("--bag", options->request.bag, "with --graph: unique operations with counts, no edges");
    options->output.declare(command);
    return [options] { return run_extract(*options); };
}

}  // namespace joulecast::cli
