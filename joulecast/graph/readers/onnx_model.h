#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "joulecast/graph/readers/onnx_wire.h"
#include "joulecast/graph/tensor_type.h"

/// What onnx.proto describes, as far as cost depends on it: everything but the weights' bytes.
namespace joulecast::onnx {

/// Numbers of at most this many elements are kept where they are integers (shapes, indices) ...
inline constexpr std::int64_t most_integers = 4096;
/// ... and where they are floats: the factors of Resize, bounds of Clip, scales. Longer ones are weights.
inline constexpr std::int64_t most_reals = 16;

/// A small tensor with known numbers: row-major; integers and booleans in `integers`, floats in `reals`.
struct Constant {
    Dtype dtype = Dtype::i64;
    Integers sizes;
    Integers integers;
    std::vector<double> reals;

    bool is_real() const { return is_floating(dtype); }
    std::size_t count() const { return is_real() ? reals.size() : integers.size(); }
    /// Element `index` whatever its type.
    double number(std::size_t index) const {
        return is_real() ? reals.at(index) : static_cast<double>(integers.at(index));
    }
};

/// TensorProto without its weights.
struct Tensor {
    std::string name;
    Dtype dtype = Dtype::f32;
    Integers sizes;
    /// Its numbers, when they are few and in the file.
    std::optional<Constant> values;
};

struct Dimension {
    std::optional<std::int64_t> value;
    /// Name of a symbol or an expression, when there is no value; empty when nothing is known.
    std::string parameter;
};

/// ValueInfoProto of a tensor. Others (sequences, maps, optionals) have no dtype.
struct ValueInfo {
    /// Why nothing can be costed with it, where dtype or shape are absent, and what to do.
    std::string why_no_type() const;

    std::string name;
    std::optional<Dtype> dtype;
    /// Absent when not even the number of dimensions is known.
    std::optional<std::vector<Dimension>> shape;
    /// Number of the field of TypeProto that it has: 1 a tensor, 4 a sequence, 5 a map, 9 an optional. 0: none.
    std::uint32_t kind = 0;
    /// Number of TensorProto.DataType; 0 when the file does not say.
    std::int64_t data_type = 0;
};

struct Body;

struct Attribute {
    std::string name;
    /// Set in functions: the attribute of the call that stands here.
    std::string reference;
    std::optional<std::int64_t> integer;
    std::optional<double> real;
    std::optional<std::string> text;
    std::optional<Tensor> tensor;
    std::shared_ptr<const Body> body;
    Integers integers;
    std::vector<double> reals;
    std::vector<std::string> texts;
};

struct Node {
    std::string name;
    std::string op_type;
    /// Empty for ONNX's own operators ("ai.onnx" is read as empty).
    std::string domain;
    /// Empty names: left out.
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<Attribute> attributes;
    std::string module_path;
    std::string source_line;

    const Attribute* find(std::string_view attribute) const;
};

/// GraphProto: the network's, or a branch of If, a body of Loop or Scan.
struct Body {
    std::string name;
    std::vector<Node> nodes;
    std::vector<Tensor> initializers;
    std::vector<ValueInfo> inputs;
    std::vector<ValueInfo> outputs;
    std::unordered_map<std::string, ValueInfo> value_infos;
};

using Opsets = std::map<std::string, std::int64_t>;

struct Function {
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<Node> nodes;
    /// Attributes with their defaults.
    std::vector<Attribute> defaults;
    Opsets opsets;
};

struct Model {
    Body graph;
    Opsets opsets;
    std::string producer;
    /// By domain and name.
    std::map<std::pair<std::string, std::string>, Function> functions;
};

/// Throws FormatError for what is no model, damaged, or beyond the bounds: nesting of graphs, numbers of nodes and
/// dimensions, lengths of names and lists.
Model parse_model(Source& source);

}  // namespace joulecast::onnx
