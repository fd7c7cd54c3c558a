#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/readers/onnx_model.h"

/// What a row of onnx_ops_<family>.cpp sees: one ONNX node with its inputs, and a builder of ATen calls.
namespace joulecast::onnx {

TensorType tensor_type(Dtype dtype, Sizes sizes);

/// A tensor of the graph that is being built.
struct Operand {
    TensorType type;
    ValueRef ref;
};
using Operands = std::vector<std::optional<Operand>>;

/// An argument of an ATen call: {"stride", Sizes{2, 2}}, {"input", call.tensor(0)}, {"bias", call.optional_tensor(2)}.
struct Given {
    Given(std::string given_name, Operand operand) : name(std::move(given_name)), item(std::move(operand)) {}
    Given(std::string given_name, Operands operands) : name(std::move(given_name)), item(std::move(operands)) {}
    /// Not inline: g++ 12 believes the variant uninitialised where it sees into it.
    Given(std::string given_name, Value value);
    /// None when absent.
    Given(std::string given_name, const std::optional<Operand>& operand) : name(std::move(given_name)) {
        item = operand ? std::variant<Operand, Operands, Value>(*operand) : Value(None{});
    }

    std::string name;
    std::variant<Operand, Operands, Value> item;
};

struct Frame;
struct Held;
using HeldPointer = std::shared_ptr<Held>;

/// A value of the ONNX graph. Its numbers may be known; it becomes a tensor of ours when an operation asks for it.
struct Held {
    std::string name;
    TensorType type;
    std::optional<Constant> known;
    std::optional<ValueRef> ref;
    /// A weight that the graph has the other way round: [in, out] in the file, [out, in] for aten::linear.
    std::optional<ValueRef> transposed;
    /// A sequence, or an optional that is one or is empty: what is in it. It is no tensor then.
    std::optional<std::vector<HeldPointer>> elements;
    /// Weight or constant in the file.
    bool is_stored = false;
    GraphInput::Kind kind = GraphInput::Kind::constant;
    /// The node that computes known numbers, should somebody need them as a tensor.
    const Node* producer = nullptr;
    Frame* frame = nullptr;
    /// The value that it is another name of; that one has no other in turn.
    HeldPointer same;
};

/// The names that a node may use: those of its own graph or function, then those around it.
struct Frame {
    Frame* parent = nullptr;
    const Opsets* opsets = nullptr;
    std::unordered_map<std::string, HeldPointer> values;
    /// In a function, the attributes of its call.
    std::map<std::string_view, const Attribute*> attributes;
    const std::unordered_map<std::string, ValueInfo>* value_infos = nullptr;
    /// Module path and source line of the call, for nodes in functions that have none.
    const Node* caller = nullptr;
};

class Translation;

class Call {
  public:
    Call(Translation& translation, const Node& node, Frame& frame, std::vector<HeldPointer> inputs,
         std::vector<HeldPointer> outputs);

    const Node& node() const { return node_; }
    /// Version of the node's operator set.
    std::int64_t opset() const;
    [[noreturn]] void refuse(const std::string& why) const;

    // --- inputs: by position, as the operator's description numbers them
    std::size_t input_count() const { return inputs_.size(); }
    bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input] != nullptr; }
    const TensorType& type(std::size_t input) const { return held(input).type; }
    std::int64_t rank(std::size_t input) const { return static_cast<std::int64_t>(type(input).sizes.size()); }
    /// The input as a tensor of the graph.
    Operand tensor(std::size_t input);
    std::optional<Operand> optional_tensor(std::size_t input);
    /// An element of a sequence as a tensor of the graph.
    Operand tensor(const HeldPointer& element);
    /// A matrix with its dimensions swapped. A weight is taken to lie in memory as it is asked for first.
    Operand transposed(std::size_t input);
    /// The input's numbers, when they are known before the network runs.
    const Constant* known(std::size_t input) const;
    /// Refuses the node because `what` it needs of an input is not known, with what to do.
    [[noreturn]] void refuse_unknown(std::size_t input, const std::string& what) const;
    /// The same for integers; refuses the node when they are not known.
    Sizes integers(std::size_t input) const;
    std::optional<Sizes> optional_integers(std::size_t input) const;
    /// The number of an input with one element and known value.
    std::optional<double> scalar(std::size_t input) const;
    /// True for a weight of the file (not for what is computed from one).
    bool is_weight(std::size_t input) const;
    /// Marks a weight that no optimizer updates: running statistics.
    void mark_buffer(std::size_t input);

    /// What is in a sequence; refuses the node when the input is a tensor, or a sequence that is not known.
    const std::vector<HeldPointer>& elements(std::size_t input) const;
    const HeldPointer& value(std::size_t input) const { return inputs_.at(input); }

    // --- attributes
    const Attribute* attribute(std::string_view name) const;
    std::int64_t integer(std::string_view name, std::int64_t missing) const;
    double real(std::string_view name, double missing) const;
    std::string text(std::string_view name, std::string missing) const;
    /// An attribute with a number of TensorProto.DataType; 0 is missing too.
    Dtype dtype(std::string_view name, Dtype missing) const;
    std::optional<Sizes> optional_list(std::string_view name) const;
    Sizes list(std::string_view name, Sizes missing) const;
    /// An attribute that later operator sets made an input (axes, pads, split): whichever is there.
    std::optional<Sizes> list_or_input(std::string_view name, std::size_t input) const;
    /// `axis` counted from the front for a tensor with `rank` dimensions; refuses what is outside.
    std::int64_t axis(std::int64_t axis, std::int64_t rank) const;

    // --- building
    /// The outputs of an ATen call with a record; their types follow from it.
    std::vector<Operand> emit_all(const std::string& target, std::vector<Given> given);
    /// Its only, or first, output.
    Operand emit(const std::string& target, std::vector<Given> given);
    /// A call without a record: named, with bytes of its tensors, never counted as zero.
    std::vector<Operand> emit_unknown(const std::string& target, std::vector<Given> given,
                                      const std::vector<TensorType>& outputs);
    /// The whole node under its own name ("onnx::Unique"), outputs as given or as the file says.
    void emit_named(std::optional<std::vector<TensorType>> outputs = std::nullopt);

    std::size_t output_count() const { return outputs_.size(); }
    bool wants(std::size_t output) const { return output < outputs_.size() && outputs_[output] != nullptr; }
    /// Sets an output; nothing happens for one that nobody wants.
    void output(std::size_t output, const Operand& operand);
    /// A constant that the node has in an attribute, as a tensor of the graph.
    Operand constant(const std::string& name, const TensorType& type);
    /// An output that is a constant of the file.
    void store(std::size_t output, const Tensor& tensor);
    /// An output that is an input, unchanged: numbers and origin stay known.
    void forward(std::size_t output, std::size_t input);
    /// An output that is another value, or a sequence of values; costs nothing.
    void forward(std::size_t output, const HeldPointer& value);
    void put_elements(std::size_t output, std::vector<HeldPointer> elements) const;
    /// A value with a tensor in it, to put into a sequence.
    static HeldPointer held_of(const Operand& operand);
    /// An output whose numbers are known.
    void put_numbers(std::size_t output, Constant numbers);
    /// The output's type as the file has it at the symbols' values. Throws FormatError naming the symbol when it has
    /// one without a value; absent when the file does not say.
    std::optional<TensorType> type_in_file(std::size_t output) const;
    /// The output's sizes as the file has them, where it has all of them as numbers or set symbols.
    std::optional<Sizes> sizes_in_file(std::size_t output) const;
    /// The sizes that an input asks for; those of output 0 in the file when the input's numbers are not known. Refuses
    /// the node without either.
    Sizes sizes_by_input(std::size_t input) const;
    /// A size that only the data decides (how many are not zero): the user's, by --set <output>_dim_<dimension>, or by
    /// the name that the file has for it. Refuses the node when it is not set.
    std::int64_t size_at_run_time(std::size_t output, std::size_t dimension) const;

  private:
    Held& held(std::size_t input) const;
    [[noreturn]] void refuse_unknown_sizes() const;
    /// What the file says of an output; nullptr when nothing.
    const ValueInfo* info_in_file(std::size_t output) const;

    Translation& translation_;
    const Node& node_;
    Frame& frame_;
    std::vector<HeldPointer> inputs_;
    std::vector<HeldPointer> outputs_;
};

/// What Slice takes apart, one entry for each axis: inputs from opset 10 on, attributes before.
struct SliceRange {
    Sizes starts;
    Sizes ends;
    Sizes axes;
    Sizes steps;
};
/// Refuses the node when the lists differ in length or are not known.
SliceRange slice_range(const Call& call);

}  // namespace joulecast::onnx
