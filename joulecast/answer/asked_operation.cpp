// What predict --operation asks for.
#include "joulecast/answer/asked_operation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/roofline.h"
#include "joulecast/units/joined.h"

namespace joulecast {
namespace {

constexpr const char* syntax =
    "It is written as joulecast extract --format json prints it: aten::relu(self=f32[32,64,56,56])";

/// "conv2d" of "aten::conv2d.padding".
std::string_view base_name(std::string_view target) {
    if (const auto colons = target.rfind("::"); colons != std::string_view::npos) target.remove_prefix(colons + 2);
    return target.substr(0, target.find('.'));
}

std::vector<std::string> missing_arguments(const Operation& operation, const Record& record) {
    std::vector<std::string> missing;
    for (const Parameter& parameter : record.parameters) {
        if (!parameter.default_value && !find_argument(operation, parameter.name)) missing.emplace_back(parameter.name);
    }
    return missing;
}

std::vector<std::string> precisions_of(const Operation& operation, const Question& question) {
    if (mode(operation) == Mode::inference && std::ranges::find(question.modes, Mode::training) != question.modes.end())
        throw UsageError("--mode training, but no tensor of " + signature(operation) +
                         " requires a gradient: mark those that do with ~, as in weight=f32[64,3,7,7]~");
    std::optional<Precision> told;
    if (compute_dtype(operation) == Dtype::bf16) told = Precision::bf16;
    if (compute_dtype(operation) == Dtype::f16) told = Precision::fp16;
    const std::vector<std::string> usual{std::string(name(Precision::torch_default))};
    if (told) {
        const std::vector<std::string> own{std::string(name(*told))};
        if (question.precisions == usual || question.precisions == own) return own;
        throw UsageError("--precision " + joined(question.precisions) + ", but the tensors of " + signature(operation) +
                         " tell its precision: " + own.front());
    }
    constexpr std::array of_f32{Precision::torch_default, Precision::fp32, Precision::tf32};
    for (const std::string& word : question.precisions) {
        const Precision precision = precision_named(word);
        if (std::ranges::find(of_f32, precision) != std::ranges::end(of_f32)) continue;
        throw UsageError("--precision " + word + ", but " + signature(operation) +
                         " tells the types of its tensors: write those of " + word + " there");
    }
    return question.precisions;
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
    throw UsageError("--operation '" + text + "': " + why);
}

}  // namespace

Operation asked_operation(const std::string& text) {
    Operation operation;
    try {
        operation = parse_operation(text);
    } catch (const FormatError& error) {
        refuse(text, std::string(error.what()) + ". " + syntax);
    }
    const Record* record = find_record(operation.target);
    if (!record) return operation;
    try {
        operation = canonical(std::move(operation));
        const auto missing = missing_arguments(operation, *record);
        if (!missing.empty()) refuse(text, "it lacks " + joined(missing) + ", which " + operation.target + " needs");
        record->outputs(operation);
    } catch (const FormatError& error) {
        std::vector<std::string> known;
        for (const Parameter& parameter : record->parameters) known.emplace_back(parameter.name);
        refuse(text, std::string(error.what()) + ". " + std::string(record->target) + " takes " + joined(known));
    }
    return operation;
}

std::string no_forecast_text(const Operation& operation, const std::string& method) {
    if (method != "joulecast" && find_record(operation.target))
        return "the method " + method + " of this predictor has no forecast for " + operation.target +
               ": it was trained without layers of this kind. Measure such layers (joulecast profile) and train again.";
    constexpr std::size_t most_names = 6;
    const std::string_view asked = base_name(operation.target);
    std::vector<std::string> near;
    for (const Record* record : all_records()) {
        const std::string_view name = base_name(record->target);
        if (near.size() < most_names && (name == asked || (!asked.empty() && name.starts_with(asked))))
            near.emplace_back(record->target);
    }
    return "joulecast has no record of " + operation.target +
           " and no measurement of it. Measure it (joulecast profile) and give the database with --db." +
           (near.empty() ? "" : " Did you mean: " + joined(near) + "?");
}

Graph graph_of(const Operation& operation) {
    Graph graph;
    graph.name = signature(operation);
    graph.has_edges = false;
    graph.mode = mode(operation);
    Node& node = graph.nodes.emplace_back();
    node.operation = operation;
    if (const Record* record = find_record(operation.target)) node.outputs = record->outputs(operation);
    return graph;
}

std::vector<Execution> executions(const Operation& operation, const Question& question) {
    std::vector<Execution> list;
    for (const std::string& engine : question.engines) {
        for (const std::string& precision : precisions_of(operation, question)) {
            for (const Host host : hosts_of(question, engine))
                list.push_back({mode(operation), precision, host, {}, engine});
        }
    }
    return list;
}

}  // namespace joulecast
