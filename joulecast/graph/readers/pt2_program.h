#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "joulecast/graph/graph.h"

/// What a .pt2's model JSON says, in plain structs: the fields joulecast uses, types checked, nothing interpreted.
/// Field names are those of torch/_export/serde/schema.py, schema 8.
namespace joulecast::pt2 {

/// An integer as the file spells it: `as_int`, `as_expr`, or `as_name` (a key of Program::integers).
struct Integer {
    enum class Form { number, expression, name };
    Form form = Form::number;
    /// The number, or the hint of an expression: its value at export, absent for data-dependent sizes.
    std::optional<std::int64_t> value;
    /// The expression or the name.
    std::string text;
};

struct Tensor {
    std::int64_t dtype = 0;
    std::vector<Integer> sizes;
    std::optional<std::vector<Integer>> strides;
    /// torch's number of a memory layout; 7 is strided, everything else sparse.
    std::int64_t layout = 7;
};

/// Name of a tensor; absent in the holes of an optional list.
using TensorName = std::optional<std::string>;
struct ScalarType {
    std::int64_t code = 0;
};
/// A device or a layout: where the call ran at export, which decides nothing here.
struct Placement {};
struct MemoryFormat {
    std::int64_t code = 0;
};
/// A union variant that joulecast does not know or cannot hold in an Operation.
struct Unknown {
    std::string variant;
};

/// A condition or a real number by its name among Body::numbers.
struct NamedNumber {
    enum class Kind { condition, real };
    Kind kind = Kind::real;
    std::string name;
};

struct Body;
/// What a higher-order call runs.
struct Subgraph {
    std::string name;
    std::shared_ptr<const Body> body;
};

struct Argument {
    std::string name;
    std::variant<None, bool, double, std::string, Integer, ScalarType, Placement, MemoryFormat, TensorName, Unknown,
                 std::vector<TensorName>, std::vector<bool>, std::vector<double>, std::vector<Integer>, NamedNumber,
                 Subgraph>
        value;
};

struct Node {
    std::string target;
    std::vector<Argument> inputs;
    std::vector<Argument> outputs;
    std::string nn_module_stack;
    std::string stack_trace;
};

struct InputSpec {
    GraphInput::Kind kind = GraphInput::Kind::user_input;
    /// "layer1.0.conv1.weight"; empty for user inputs.
    std::string dotted_name;
};

struct Range {
    std::optional<std::int64_t> low;
    std::optional<std::int64_t> high;
};

/// A condition (1 or 0) or a real number: a literal, or an expression over the symbols.
struct Number {
    std::optional<double> value;
    std::string text;
};

/// The program's graph, or the sub-graph of a higher-order call. Names hold within one body only.
struct Body {
    std::vector<Argument> inputs;
    std::vector<Argument> outputs;
    std::vector<Node> nodes;
    std::unordered_map<std::string, Tensor> tensors;
    std::unordered_map<std::string, Integer> integers;
    std::unordered_map<std::string, Number> numbers;
};

struct Program {
    Body main;
    std::unordered_map<std::string, InputSpec> input_specs;
    /// Of the outputs, those that the network returns; absent where the file does not tell.
    std::optional<std::unordered_set<std::string>> user_outputs;
    std::map<std::string, Range> ranges;
};

/// Parses models/<name>.json. Throws FormatError beginning with the place ("node 12: ...").
Program parse_program(std::string json);

/// Names that a file gives to its symbols, (symbol, name), from extra/joulecast.json: {"symbols": {"batch": "s77"}}.
std::vector<std::pair<std::string, std::string>> parse_symbol_names(std::string json);

/// Which weights are one tensor under several names: by dotted name, what those of one tensor have in common.
using Ties = std::unordered_map<std::string, std::string>;

/// From data/weights/model_weights_config.json: weights of one file at one offset.
Ties parse_stored_ties(std::string json);

/// From extra/joulecast.json, of files without weights: {"tied": [["wte.weight", "lm_head.weight"]]}.
Ties parse_noted_ties(std::string json);

/// What a file tells beside its program.
struct Notes {
    std::vector<std::pair<std::string, std::string>> symbol_names;  ///< as parse_symbol_names()
    Ties ties;
};

/// The program as a graph at its exported sizes; symbols without a size take theirs from `values`. Tied weights of one
/// type are one input, named as the first of them.
Graph to_graph(const Program& program, const Notes& notes, const SymbolValues& values);

}  // namespace joulecast::pt2
