#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/record.h"

namespace joulecast::cli {

/// Some calls of a model with what they cost together: those of one operation, of one module, or all.
struct CallCount {
    std::string model;
    /// ATen target, module path, or "total".
    std::string op;
    std::string signature;
    std::string family;
    std::int64_t count = 0;
    Counts forward;
    Counts backward;
    bool has_record = true;
    /// Of the model's FLOPs, forward and backward.
    double share = 0;
};

/// Sums that do not fit into 64 bits throw FormatError.
std::int64_t flops(const CallCount& calls);
std::int64_t other_flops(const CallCount& calls);
std::int64_t bytes(const CallCount& calls);
/// FLOPs of both kinds for each byte moved; NaN where none is.
double intensity(const CallCount& calls);
void add(CallCount& sum, const CallCount& calls);

struct ModelCount {
    Graph graph;
    /// In the order of their first call.
    std::vector<CallCount> operations;
    CallCount total;
    std::int64_t nodes_without_record = 0;
};

/// What a user names, in the mode asked for, or, if `mode` is empty, in its own: inference for all but a .graph.json
/// with gradient marks.
Graph open_graph(const std::string& model, const SymbolValues& values, const std::string& mode);

/// What the graph's reader has to say to the user, a sentence each: "NAME: ..."
std::vector<std::string> notes_of(const Graph& graph);

/// Throws FormatError naming the operation that cannot be counted.
ModelCount count_model(Graph graph);

/// Counts of one operation called `count` times.
CallCount count_calls(const Operation& operation, std::int64_t count, const std::string& model);

/// The model's calls by the first `depth` parts of the path of their module, in the order of their first call.
std::vector<CallCount> count_modules(const ModelCount& model, std::size_t depth);

/// "batch=2, inference"
std::string settings_text(const Graph& graph);

/// One line for each operation that is counted by the bytes of its inputs only, with what to do; empty if there is
/// none.
std::string missing_records_text(const std::vector<const ModelCount*>& models);

}  // namespace joulecast::cli
