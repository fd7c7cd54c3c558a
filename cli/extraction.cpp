#include "cli/extraction.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cli/verb.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/channels_last.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/symbol_values.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

Json model_json(const ModelCount& model, const ExtractRequest& request) {
    Json precision;  // null: as in the file
    if (!request.precision.empty()) precision = request.precision;
    const Counts& forward = model.total.forward;
    const Counts& backward = model.total.backward;
    Json answer{{"model", model.graph.name},
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
    answer["operations"] =
        rows_json(fill(call_columns(), dearest(model.operations, request.by_module ? 0 : request.top)));
    if (request.by_module)
        answer["modules"] =
            rows_json(fill(module_columns(), dearest(count_modules(model, request.depth), request.top)));
    return answer;
}

void write_graph(const std::vector<ModelCount>& models, const ExtractRequest& request) {
    if (models.size() != 1) throw UsageError("--graph takes one model at one setting");
    Output file;
    file.file = request.graph_file;
    const Graph& graph = models.front().graph;
    file.write(graph_to_json(request.bag ? without_edges(graph) : graph, GraphText::file));
}

/// As it computes; what has no precision asked for stays as its file has it.
Graph graph_at(const Graph& graph, const ExtractRequest& request) {
    const bool is_on_cpu = request.device == "cpu";
    const AutocastDevice device = is_on_cpu ? AutocastDevice::cpu : AutocastDevice::cuda;
    Graph lying = request.memory_format == MemoryFormat::channels_last ? with_channels_last(graph, device) : graph;
    if (request.precision.empty()) return lying;
    const Device::Kind kind = is_on_cpu ? Device::Kind::cpu : Device::Kind::gpu;
    return at_precision(std::move(lying), precision_named(request.precision), graph.mode, kind);
}

}  // namespace

const std::vector<Column<CallCount>>& call_columns() {
    static const std::vector<Column<CallCount>> list = {
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

std::vector<Column<CallCount>> module_columns() {
    std::vector<Column<CallCount>> list = {{"module", "module", Show::text, [](const CallCount& e) { return e.op; }}};
    for (const auto& column : call_columns()) {
        const bool of_operation = column.key == "op" || column.key == "signature" || column.key == "family";
        if (!of_operation) list.push_back(column);
    }
    return list;
}

bool is_dearer(const CallCount& a, const CallCount& b) {
    return std::pair(flops(a), bytes(a)) > std::pair(flops(b), bytes(b));
}

std::vector<CallCount> dearest(const std::vector<CallCount>& calls, std::size_t top) {
    if (top == 0 || top >= calls.size()) return calls;
    std::vector<std::size_t> order(calls.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return is_dearer(calls[a], calls[b]); });
    order.resize(top);
    std::ranges::sort(order);
    std::vector<CallCount> kept;
    for (const std::size_t i : order) kept.push_back(calls[i]);
    return kept;
}

std::vector<ModelCount> count_models(const ExtractRequest& request, const Tell& tell) {
    if (request.bag && request.graph_file.empty()) throw UsageError("--bag needs --graph");
    std::set<std::string> told;
    std::vector<ModelCount> models;
    for (const std::string& model : request.models) {
        for (const SymbolValues& values : request.sizes) {
            const Graph graph = open_graph(model, values, request.mode);
            for (const std::string& note : notes_of(graph))
                if (told.insert(note).second) tell(note);
            models.push_back(count_model(graph_at(graph, request)));
        }
    }
    if (!request.graph_file.empty()) write_graph(models, request);
    return models;
}

Json extraction_json(const std::vector<ModelCount>& models, const ExtractRequest& request) {
    Json answer{{"schema", "joulecast.extract/1"}, {"models", Json::array()}};
    for (const ModelCount& model : models) answer["models"].push_back(model_json(model, request));
    return answer;
}

std::vector<const ModelCount*> pointers(const std::vector<ModelCount>& models) {
    std::vector<const ModelCount*> pointers;
    for (const ModelCount& model : models) pointers.push_back(&model);
    return pointers;
}

}  // namespace joulecast::cli
