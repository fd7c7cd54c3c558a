#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/readers/onnx_call.h"
#include "joulecast/graph/readers/onnx_symbols.h"

namespace joulecast::onnx {

/// An ONNX model as ATen calls, at given values of its symbols. Made anew for every set of values, since the model's
/// own size computations decide which calls there are.
class Translation {
  public:
    /// Model and symbols must outlive it.
    Translation(const Model& model, const Symbols& symbols, SymbolValues values);

    /// Throws FormatError naming the node that cannot be translated.
    Graph graph();

    // --- for Call
    std::vector<Operand> emit(const Node& node, const Frame& frame, const std::string& target, std::vector<Given> given,
                              const std::vector<TensorType>* outputs);
    /// The value as a tensor; throws FormatError for a sequence.
    Operand operand(Held& held);
    /// The same, for a sequence the tensors that are in it.
    void append_operands(Held& held, Operands& operands);
    Operand transposed(Held& held, const Node& node, const Frame& frame);
    std::optional<TensorType> type_of(const ValueInfo& info) const;
    /// Absent for a dimension without a value, or whose symbols have none.
    std::optional<std::int64_t> size_of(const Dimension& dimension) const;
    /// Refuses the model once all nodes, with turns of loops and elements of sequences, are more than any network has.
    void count_steps(std::size_t steps);
    /// The value given for a size that only the data decides.
    std::optional<std::int64_t> size_at_run_time(const std::string& symbol);
    /// How to give the numbers of the inputs that have small ones and are not set: a sentence, or empty.
    std::string settable_numbers() const;
    /// Values from around that the branches and bodies of a node use.
    std::vector<HeldPointer> captured(const Node& node, Frame& frame) const;

  private:
    /// A sentence for a version of ONNX's operator set that nothing was tested with.
    void note_version();
    void add_inputs(Frame& frame);
    /// The numbers that were set for an input of few integers (axes, a shape): none, or all.
    std::optional<Constant> numbers_of_input(const std::string& name, const TensorType& type);
    void add_initializers(const Body& body, Frame& frame);
    void run(const std::vector<Node>& nodes, Frame& frame);
    void step(const Node& node, Frame& frame);
    void run_function(const Function& function, const Node& node, Frame& frame);
    /// True when the condition is known and the branch was taken.
    bool run_branch(const Node& node, Frame& frame);
    /// True when the number of turns is known and each was written out.
    bool run_loop(const Node& node, Frame& frame);
    bool run_scan(const Node& node, Frame& frame);
    /// A frame within `frame` for the body of a node, with its weights.
    Frame& inner_frame(const Body& body, Frame& frame);
    static HeldPointer output_of(const Body& body, std::size_t output, Frame& inner);
    /// The results of all turns in one tensor, with a dimension for the turns.
    HeldPointer stacked(const Node& node, Frame& frame, const std::vector<HeldPointer>& turns, std::int64_t axis);
    void translate(const Node& node, Frame& frame, const std::vector<HeldPointer>& outputs);
    Operand add_constant(Held& held);
    std::vector<HeldPointer> inputs_of(const Node& node, Frame& frame) const;
    static std::vector<HeldPointer> new_outputs(const Node& node, Frame& frame);
    static HeldPointer find(const std::string& name, Frame* frame);

    const Model& model_;
    const Symbols& symbols_;
    SymbolValues values_;
    Graph graph_;
    /// Given symbols that no input has; each must turn out to be a size at run time or an input's number.
    std::set<std::string> unclaimed_;
    /// All that were opened; a value may be made a tensor long after its frame was left.
    std::deque<Frame> frames_;
    std::vector<const Function*> active_;
    std::size_t steps_ = 0;
    int materializing_ = 0;
};

}  // namespace joulecast::onnx
