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
    Operand operand(Held& held);
    Operand transposed(Held& held, const Node& node, const Frame& frame);
    std::optional<TensorType> type_of(const ValueInfo& info) const;
    /// Absent for a dimension without a value, or whose symbols have none.
    std::optional<std::int64_t> size_of(const Dimension& dimension) const;
    /// The value given for a size that only the data decides.
    std::optional<std::int64_t> size_at_run_time(const std::string& symbol);
    /// Values from around that the branches and bodies of a node use.
    std::vector<HeldPointer> captured(const Node& node, Frame& frame) const;

  private:
    void add_inputs(Frame& frame);
    void add_initializers(const Body& body, Frame& frame);
    void run(const std::vector<Node>& nodes, Frame& frame);
    void step(const Node& node, Frame& frame);
    void run_function(const Function& function, const Node& node, Frame& frame);
    /// True when the condition is known and the branch was taken.
    bool run_branch(const Node& node, Frame& frame);
    void translate(const Node& node, Frame& frame, const std::vector<HeldPointer>& outputs);
    Operand add_constant(Held& held);
    std::vector<HeldPointer> inputs_of(const Node& node, Frame& frame) const;
    static std::vector<HeldPointer> new_outputs(const Node& node, Frame& frame);
    static HeldPointer find(const std::string& name, Frame* frame);

    const Model& model_;
    const Symbols& symbols_;
    SymbolValues values_;
    Graph graph_;
    /// Given symbols that no input has; each must turn out to be a size at run time.
    std::set<std::string> unclaimed_;
    /// All that were opened; a value may be made a tensor long after its frame was left.
    std::deque<Frame> frames_;
    std::vector<const Function*> active_;
    std::size_t steps_ = 0;
    int materializing_ = 0;
};

}  // namespace joulecast::onnx
