#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace joulecast::cli {
namespace {

/// One operation of a model with all its calls together, or, as the last line of a table, all operations.
struct Extracted {
    std::string model;
    std::string op;
    std::string signature;
    std::string family;
    std::int64_t count = 0;
    Counts forward;
    Counts backward;
    bool has_record = false;
    /// Of the model's FLOPs, forward and backward.
    double share = 0;
};

struct Model {
    Graph graph;
    std::vector<Extracted> operations;
    Extracted total;
    std::int64_t nodes_without_record = 0;
};

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) throw FormatError("its counts do not fit into 64 bits");
    return sum;
}

Counts checked_sum(const Counts& a, const Counts& b) {
    return {checked_sum(a.flop, b.flop), checked_sum(a.other_flop, b.other_flop),
            checked_sum(a.bytes_read, b.bytes_read), checked_sum(a.bytes_written, b.bytes_written)};
}

Counts times(const Counts& counts, std::int64_t calls) {
    const auto product = [calls](std::int64_t count) {
        std::int64_t result = 0;
        if (__builtin_mul_overflow(count, calls, &result)) throw FormatError("its counts do not fit into 64 bits");
        return result;
    };
    return {product(counts.flop), product(counts.other_flop), product(counts.bytes_read),
            product(counts.bytes_written)};
}

Extracted extract(const CountedOperation& counted, const std::string& model) {
    const Operation& operation = counted.operation;
    Extracted extracted;
    extracted.model = model;
    extracted.op = operation.target;
    extracted.signature = signature(operation);
    extracted.family = name(family(operation));
    extracted.count = counted.count;
    extracted.has_record = find_record(operation.target) != nullptr;
    extracted.forward = times(forward_counts(operation), counted.count);
    extracted.backward = times(backward_counts(operation), counted.count);
    return extracted;
}

Model extract(Graph graph) {
    Model model;
    model.total.op = "total";
    for (const CountedOperation& counted : count_operations(graph)) {
        try {
            Extracted one = extract(counted, graph.name);
            Extracted& total = model.total;
            total.count = checked_sum(total.count, one.count);
            total.forward = checked_sum(total.forward, one.forward);
            total.backward = checked_sum(total.backward, one.backward);
            if (!one.has_record) model.nodes_without_record += one.count;
            model.operations.push_back(std::move(one));
        } catch (const FormatError& error) {
            throw FormatError("cannot count " + graph.name + ": " + signature(counted.operation) + ": " + error.what());
        }
    }
    const auto flops = [](const Extracted& e) {
        return static_cast<double>(e.forward.flop) + static_cast<double>(e.backward.flop);
    };
    for (Extracted& one : model.operations) one.share = flops(one) / std::max(1.0, flops(model.total));
    model.total.share = flops(model.total) > 0 ? 1 : 0;
    model.graph = std::move(graph);
    return model;
}

using Columns = std::vector<Column<Extracted>>;

/// What every format shows of one operation, in the order of the JSON keys.
const Columns& columns() {
    static const Columns list = {
        {"op", "operation", Show::text, [](const Extracted& e) { return e.op; }},
        {"signature", "signature", Show::text, [](const Extracted& e) { return e.signature; }},
        {"count", "calls", Show::count, [](const Extracted& e) { return e.count; }},
        {"flops", "FLOPs", Show::flop, [](const Extracted& e) { return e.forward.flop; }},
        {"other_flops", "other", Show::flop, [](const Extracted& e) { return e.forward.other_flop; }},
        {"bytes_read", "read", Show::bytes, [](const Extracted& e) { return e.forward.bytes_read; }},
        {"bytes_written", "written", Show::bytes, [](const Extracted& e) { return e.forward.bytes_written; }},
        {"backward_flops", "backward", Show::flop, [](const Extracted& e) { return e.backward.flop; }},
        {"backward_other_flops", "other", Show::flop, [](const Extracted& e) { return e.backward.other_flop; }},
        {"backward_bytes_read", "read", Show::bytes, [](const Extracted& e) { return e.backward.bytes_read; }},
        {"backward_bytes_written", "written", Show::bytes, [](const Extracted& e) { return e.backward.bytes_written; }},
        {"share", "share", Show::percent, [](const Extracted& e) { return e.share; }},
        {"family", "family", Show::text, [](const Extracted& e) { return e.family; }},
        {"has_record", "record", Show::text, [](const Extracted& e) { return e.has_record; }},
    };
    return list;
}

/// The columns that a reader of tables wants: short, and backward only where there is one.
Columns brief_columns(Mode mode) {
    Columns brief;
    for (const auto& column : columns()) {
        const bool is_backward = column.key.starts_with("backward");
        const bool is_long = column.key == "signature" || column.key == "family" || column.key == "has_record";
        if (!is_long && (!is_backward || mode == Mode::training)) brief.push_back(column);
    }
    brief.push_back({"tensors", "tensors", Show::text, [](const Extracted& e) {
                         constexpr std::size_t longest = 60;
                         const std::size_t open = e.signature.find('(');
                         if (open == std::string::npos) return std::string();
                         const std::string inside = e.signature.substr(open + 1, e.signature.size() - open - 2);
                         return inside.size() <= longest ? inside : inside.substr(0, longest) + "…";
                     }});
    return brief;
}

std::string settings(const Graph& graph) {
    std::string text;
    for (const auto& [symbol, value] : graph.symbols) text += symbol + "=" + std::to_string(value.value) + ", ";
    return text + std::string(name(graph.mode));
}

std::string to_text(const Model& model) {
    std::vector<Extracted> lines = model.operations;
    std::ranges::stable_sort(lines, [](const Extracted& a, const Extracted& b) {
        const auto key = [](const Extracted& e) {
            return std::pair(e.share, checked_sum(e.forward.bytes_read, e.forward.bytes_written));
        };
        return key(a) > key(b);
    });
    lines.push_back(model.total);
    return model.graph.name + " (" + settings(model.graph) + "): " + std::to_string(model.total.count) + " calls, " +
           std::to_string(model.operations.size()) + " different operations\n\n" +
           to_text(fill(brief_columns(model.graph.mode), lines));
}

nlohmann::ordered_json to_json(const Model& model) {
    nlohmann::ordered_json symbols = nlohmann::ordered_json::object();
    for (const auto& [symbol, value] : model.graph.symbols) symbols[symbol] = value.value;
    const Counts& forward = model.total.forward;
    const Counts& backward = model.total.backward;
    return {{"model", model.graph.name},
            {"symbols", std::move(symbols)},
            {"mode", name(model.graph.mode)},
            {"nodes", model.total.count},
            {"nodes_without_record", model.nodes_without_record},
            {"flops", forward.flop},
            {"other_flops", forward.other_flop},
            {"backward_flops", backward.flop},
            {"backward_other_flops", backward.other_flop},
            {"bytes_read", forward.bytes_read},
            {"bytes_written", forward.bytes_written},
            {"backward_bytes_read", backward.bytes_read},
            {"backward_bytes_written", backward.bytes_written},
            {"operations", nlohmann::ordered_json::parse(joulecast::to_json(fill(columns(), model.operations)))}};
}

std::string to_csv(const std::vector<Model>& models) {
    Columns with_model = {{"model", "model", Show::text, [](const Extracted& e) { return e.model; }}};
    with_model.insert(with_model.end(), columns().begin(), columns().end());
    std::vector<Extracted> lines;
    for (const Model& model : models) lines.insert(lines.end(), model.operations.begin(), model.operations.end());
    return joulecast::to_csv(fill(with_model, lines));
}

std::string printed(const std::vector<Model>& models, const std::string& format) {
    if (format == "csv") return to_csv(models);
    if (format == "json") {
        nlohmann::ordered_json answer{{"schema", "joulecast.extract/1"}, {"models", nlohmann::ordered_json::array()}};
        for (const Model& model : models) answer["models"].push_back(to_json(model));
        return answer.dump(2) + '\n';
    }
    std::string text;
    for (const Model& model : models) text += (text.empty() ? "" : "\n") + to_text(model);
    return text;
}

/// Names the operations that are counted by the bytes of their tensors only; true if there are any.
bool report_missing_records(const std::vector<Model>& models) {
    std::map<std::string, std::int64_t> calls;
    for (const Model& model : models)
        for (const Extracted& one : model.operations)
            if (!one.has_record) calls[one.op] += one.count;
    for (const auto& [op, count] : calls)
        std::cerr << "joulecast: " << op << " (" << count << (count == 1 ? " call" : " calls")
                  << ") has no record: its FLOPs are not counted, nor the bytes that it writes\n";
    return !calls.empty();
}

}  // namespace

Run declare_extract(CLI::App& command) {
    struct Options {
        std::vector<std::string> models;
        std::vector<std::string> set;
        std::string mode = "inference";
        Output output;
    };
    const auto options = std::make_shared<Options>();
    command.add_option("MODEL", options->models, ".pt2 files or names of the zoo")->required();
    command.add_option("--set", options->set, "values of a symbol, as in batch=1,8,32")->allow_extra_args(false);
    command.add_option("--mode", options->mode, "inference or training (forward and backward)")
        ->check(CLI::IsMember({"inference", "training"}))
        ->capture_default_str();
    options->output.declare(command);
    return [options] {
        const auto combinations = parse_settings(options->set);
        const Mode mode = parse_mode(options->mode).value();
        std::vector<Model> models;
        for (const std::string& model : options->models) {
            for (const SymbolValues& values : combinations) {
                Graph graph = open_model(model, shipped_folder("zoo"), values, mode);
                models.push_back(extract(mode == Mode::training ? to_training(graph) : std::move(graph)));
            }
        }
        options->output.write(printed(models, options->output.format));
        return static_cast<int>(report_missing_records(models) ? parts_unknown : done);
    };
}

}  // namespace joulecast::cli
