#include "cli/count_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/units/checked.h"

namespace joulecast::cli {
namespace {

constexpr const char* too_many = "its counts do not fit into 64 bits";

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
    return joulecast::checked_sum(a, b, too_many);
}

Counts checked_sum(const Counts& a, const Counts& b) {
    return {checked_sum(a.flop, b.flop), checked_sum(a.other_flop, b.other_flop),
            checked_sum(a.bytes_read, b.bytes_read), checked_sum(a.bytes_written, b.bytes_written)};
}

Counts times(const Counts& counts, std::int64_t calls) {
    const auto product = [calls](std::int64_t count) { return checked_product(count, calls, too_many); };
    return {product(counts.flop), product(counts.other_flop), product(counts.bytes_read),
            product(counts.bytes_written)};
}

void set_shares(std::vector<CallCount>& parts, const CallCount& total) {
    const double whole = std::max(1.0, static_cast<double>(flops(total)));
    for (CallCount& part : parts) part.share = static_cast<double>(flops(part)) / whole;
}

/// "layer1.0.conv1" at depth 2 -> "layer1.0"
std::string prefix(const std::string& path, std::size_t depth) {
    std::size_t end = 0;
    for (std::size_t part = 0; part < depth && end != std::string::npos; ++part) {
        end = path.find('.', part == 0 ? 0 : end + 1);
    }
    return path.substr(0, end);
}

/// What the graph says of the outputs of the node's calls: a record would compute it.
std::int64_t output_bytes(const Node& node) {
    Counts of_a_call;
    for (const TensorType& output : node.outputs) {
        of_a_call.bytes_written = checked_sum(of_a_call.bytes_written, byte_count(output));
    }
    return times(of_a_call, node.count).bytes_written;
}

/// By signature, of the operations that have no record.
std::unordered_map<std::string, std::int64_t> bytes_written_without_record(const Graph& graph) {
    std::unordered_map<std::string, std::int64_t> written;
    for (const Node& node : graph.nodes) {
        if (find_record(node.operation.target) != nullptr) continue;
        std::int64_t& sum = written[signature(node.operation)];
        sum = checked_sum(sum, output_bytes(node));
    }
    return written;
}

}  // namespace

std::int64_t flops(const CallCount& calls) {
    return checked_sum(calls.forward.flop, calls.backward.flop);
}

std::int64_t other_flops(const CallCount& calls) {
    return checked_sum(calls.forward.other_flop, calls.backward.other_flop);
}

std::int64_t bytes(const CallCount& calls) {
    return checked_sum(checked_sum(calls.forward.bytes_read, calls.forward.bytes_written),
                       checked_sum(calls.backward.bytes_read, calls.backward.bytes_written));
}

double intensity(const CallCount& calls) {
    const std::int64_t moved = bytes(calls);
    if (moved == 0) return std::numeric_limits<double>::quiet_NaN();
    return (static_cast<double>(flops(calls)) + static_cast<double>(other_flops(calls))) / static_cast<double>(moved);
}

void add(CallCount& sum, const CallCount& calls) {
    sum.count = checked_sum(sum.count, calls.count);
    sum.forward = checked_sum(sum.forward, calls.forward);
    sum.backward = checked_sum(sum.backward, calls.backward);
}

CallCount count_calls(const Operation& operation, std::int64_t count, const std::string& model) {
    CallCount calls;
    calls.model = model;
    calls.op = operation.target;
    calls.signature = signature(operation);
    calls.count = count;
    try {
        calls.family = name(family(operation));
        calls.has_record = find_record(operation.target) != nullptr;
        calls.forward = times(forward_counts(operation), count);
        calls.backward = times(backward_counts(operation), count);
    } catch (const FormatError& error) {
        throw FormatError("cannot count " + model + ": " + calls.signature.substr(0, 400) + ": " + error.what());
    }
    return calls;
}

std::vector<std::string> notes_of(const Graph& graph) {
    std::vector<std::string> notes;
    for (const std::string& note : graph.notes) notes.push_back(graph.name + ": " + note);
    return notes;
}

Graph open_graph(const std::string& model, const SymbolValues& values, const std::string& mode) {
    const Mode form = parse_mode(mode).value_or(Mode::inference);
    Graph graph = open_model(model, shipped_folder("zoo"), values, form);
    const Mode asked = mode.empty() ? graph.mode : form;
    return in_mode(std::move(graph), asked);
}

ModelCount count_model(Graph graph) {
    ModelCount model;
    model.total.op = "total";
    const auto written = bytes_written_without_record(graph);
    for (const CountedOperation& counted : count_operations(graph)) {
        CallCount calls = count_calls(counted.operation, counted.count, graph.name);
        if (!calls.has_record) calls.forward.bytes_written = written.at(calls.signature);
        add(model.total, calls);
        if (!calls.has_record) model.nodes_without_record += calls.count;
        model.operations.push_back(std::move(calls));
    }
    set_shares(model.operations, model.total);
    model.total.share = flops(model.total) > 0 ? 1 : 0;
    bytes(model.total);  // whoever prints the parts may add them up
    model.graph = std::move(graph);
    return model;
}

std::vector<CallCount> count_modules(const ModelCount& model, std::size_t depth) {
    std::vector<CallCount> modules;
    std::unordered_map<std::string, std::size_t> position;
    for (const Node& node : model.graph.nodes) {
        const auto [found, is_new] = position.try_emplace(prefix(node.module_path, depth), modules.size());
        if (is_new) {
            modules.emplace_back();
            modules.back().model = model.graph.name;
            modules.back().op = found->first;
        }
        CallCount& module = modules[found->second];
        CallCount calls = count_calls(node.operation, node.count, model.graph.name);
        if (!calls.has_record) calls.forward.bytes_written = output_bytes(node);
        module.has_record = module.has_record && calls.has_record;
        add(module, calls);
    }
    set_shares(modules, model.total);
    return modules;
}

std::string settings_text(const Graph& graph) {
    const std::string sizes = values_text(symbol_values(graph));
    return (sizes.empty() ? "" : sizes + ", ") + std::string(name(graph.mode));
}

std::string missing_records_text(const std::vector<const ModelCount*>& models) {
    std::map<std::string, std::int64_t> calls;
    for (const ModelCount* model : models)
        for (const CallCount& operation : model->operations)
            if (!operation.has_record) calls[operation.op] = checked_sum(calls[operation.op], operation.count);
    if (calls.empty()) return {};
    std::string text;
    for (const auto& [op, count] : calls)
        text += op + " (" + std::to_string(count) + (count == 1 ? " call" : " calls") +
                ") has no record: its FLOPs are not counted, its bytes are those of its tensors\n";
    return text + "If the operation is your own, let the export decompose it " +
           "(exported.run_decompositions()); docs/add-a-thing.md says how to add a record.\n";
}

}  // namespace joulecast::cli
