#include "joulecast/graph/retyping.h"

#include <string>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {

bool lies_alike(const TensorType& a, const TensorType& b) {
    return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides;
}

void arrive(TensorType& type, const TensorType& source, const TensorType& now) {
    if (lies_alike(type, source))
        type = now;
    else if (type.dtype == source.dtype)
        type.dtype = now.dtype;
}

std::optional<std::vector<TensorType>> outputs_by_record(const Operation& operation) {
    const Record* record = find_record(operation.target);
    if (record == nullptr || record->outputs == nullptr) return std::nullopt;
    try {
        return record->outputs(operation);
    } catch (const FormatError&) {
        return std::nullopt;
    }
}

RetypedGraph::RetypedGraph(const Graph& before) : before_(before), after_(before) {
    after_.nodes.clear();
    after_.nodes.reserve(before.nodes.size());
    moved_.reserve(before.nodes.size());
}

ValueRef RetypedGraph::moved(ValueRef ref) const {
    if (ref.node < 0) return ref;
    if (static_cast<std::size_t>(ref.node) >= moved_.size())
        throw FormatError("graph " + before_.name + " is inconsistent: a call uses what a later one makes");
    return {moved_[static_cast<std::size_t>(ref.node)], ref.output};
}

Node RetypedGraph::arriving(const Node& original) const {
    Node node = original;
    const auto types = tensors(node.operation);
    if (types.size() != node.inputs.size())
        throw FormatError("graph " + before_.name + " is inconsistent: " + node.operation.target + " has " +
                          std::to_string(types.size()) + " tensors and " + std::to_string(node.inputs.size()) +
                          " edges");
    for (std::size_t i = 0; i < types.size(); ++i) {
        const TensorType& source = type_of(before_, original.inputs[i]);
        node.inputs[i] = moved(original.inputs[i]);
        arrive(*types[i], source, type_of(after_, node.inputs[i]));
    }
    return node;
}

void RetypedGraph::add(Node node) {
    node.symbolic.clear();  // who makes such a graph makes it anew at other sizes
    moved_.push_back(insert(std::move(node)).node);
}

ValueRef RetypedGraph::insert(Node node) {
    after_.nodes.push_back(std::move(node));
    return {static_cast<std::int32_t>(after_.nodes.size()) - 1, 0};
}

Graph RetypedGraph::take() {
    for (ValueRef& output : after_.outputs) output = moved(output);
    return std::move(after_);
}

}  // namespace joulecast
