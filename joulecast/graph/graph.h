#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/graph/expression.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

/// A tensor in the graph: output `output` of node `node`, or, with node == -1, graph input number `output`.
struct ValueRef {
    std::int32_t node = -1;
    std::int32_t output = 0;

    friend bool operator==(const ValueRef&, const ValueRef&) = default;
};

/// Where a symbolic size or stride stands in a node, so that the node can be re-shaped.
struct SymbolicSize {
    /// A tensor of symbolic sizes that may be other than contiguous has an entry for the stride of each dimension,
    /// constants too: at other values strides that were left out or canonical count again.
    enum class Place { input_tensor, output_tensor, argument, input_stride, output_stride };
    Place place = Place::input_tensor;
    /// Index into tensors(operation), Node::outputs, or Operation::arguments.
    std::int32_t index = 0;
    /// Dimension of the tensor or position in the integer list; 0 for a single integer.
    std::int32_t position = 0;
    Expression expression;
};

struct Node {
    Operation operation;
    /// One per tensor of the operation, in the order of tensors(operation); empty in a bag of operations.
    std::vector<ValueRef> inputs;
    std::vector<TensorType> outputs;
    /// Dotted path of the module that made the call ("layer1.0.conv1") and its source line, where known.
    std::string module_path;
    std::string source_line;
    std::vector<SymbolicSize> symbolic;
    /// > 1 only in a bag of operations.
    std::int64_t count = 1;
};

struct GraphInput {
    enum class Kind { user_input, parameter, buffer, constant };
    std::string name;
    Kind kind = Kind::user_input;
    TensorType type;
    /// Symbolic dimensions: (dimension, expression).
    std::vector<std::pair<std::int32_t, Expression>> symbolic;
    /// The strides of all dimensions where `symbolic` has sizes and the tensor may be other than contiguous.
    std::vector<Expression> symbolic_strides = {};
};

struct Symbol {
    std::int64_t value = 0;
    std::int64_t low = 0;
    std::int64_t high = INT64_MAX;
    /// What the file calls it where the reader has a better name ("s77" for batch): accepted like the name.
    std::string alias = {};
    /// Where a user meets it, for messages: "dimension 0 of input image".
    std::string place = {};
};

struct Graph;
/// Makes a network's graph at other values of its symbols.
using ShapeAnew = std::function<Graph(const SymbolValues&)>;

/// A network as a list of ATen calls in topological order, at the current values of its symbols.
struct Graph {
    std::string name;
    std::vector<GraphInput> inputs;
    std::vector<Node> nodes;
    std::vector<ValueRef> outputs;
    std::map<std::string, Symbol> symbols;
    Mode mode = Mode::inference;
    /// Where the calls themselves depend on the symbols, so that SymbolicSize does not tell enough (.onnx). Null: the
    /// expressions in inputs and nodes say all.
    std::shared_ptr<const ShapeAnew> shape_anew;
    /// What the reader has to say to whoever asked for the network, a sentence each.
    std::vector<std::string> notes = {};
    /// False for a bag of operations with counts: no memory plan is possible then.
    bool has_edges = true;
};

/// Type of the referenced tensor; throws FormatError when the reference points outside of the graph.
const TensorType& type_of(const Graph& graph, ValueRef ref);

/// The graph re-shaped; `symbol` is a name or an alias. Tensors of symbolic sizes without expressions for their strides
/// keep their order (channels last) if they are dense; FormatError if they are not. Throws Error for an unknown symbol
/// (naming those there are, with range and place) or a value out of its range, or where a size becomes negative.
Graph with_symbol(const Graph& graph, const std::string& symbol, std::int64_t value);
/// The same for several symbols at once.
Graph with_symbols(Graph graph, const SymbolValues& chosen);

/// The training step's graph: marks requires_grad from the parameters on, and switches batch norm and dropout to
/// training behaviour. Backward nodes are not spelled out: the cost of a marked operation is forward + backward.
/// A bag of operations does not tell parameters from inputs: a gradient then flows to every floating tensor that can
/// have one, unless the bag has marks already.
Graph to_training(const Graph& graph);

/// The graph in the mode asked for: as it is, or to_training(). Throws Error when a training graph (a file that holds
/// gradient marks) is asked for inference: what it was before is not known.
Graph in_mode(Graph graph, Mode mode);

/// The same calls as a bag: equal ones once, with their count; edges, outputs and module paths are dropped.
Graph without_edges(const Graph& graph);

/// Every floating tensor (inputs, nodes, float dtype arguments) as another type: the "model cast" of a precision.
Graph with_dtype(const Graph& graph, Dtype dtype);

struct CountedOperation {
    Operation operation;
    std::int64_t count = 0;
};

/// Unique operations with the number of calls, in order of first appearance. Views and symbolic nodes included.
std::vector<CountedOperation> count_operations(const Graph& graph);

}  // namespace joulecast
