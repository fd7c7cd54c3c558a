#include "joulecast/graph/fold.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/graph/fold_calls.h"
#include "joulecast/graph/node_parts.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

using Place = SymbolicSize::Place;
using Parts = std::vector<NodePart>;

void rename(Parts& parts, std::string_view from, std::string_view to) {
    if (NodePart* part = find_part(parts, from)) part->name = to;
}

const TensorType* tensor_of(const Parts& parts, std::string_view name) {
    const auto found = std::ranges::find(parts, name, &NodePart::name);
    return found == parts.end() ? nullptr : std::get_if<TensorType>(&found->value);
}

bool is_of_output(const SymbolicSize& size) {
    return size.place == Place::output_tensor || size.place == Place::output_stride;
}

bool is_any_of(const Operation& operation, std::initializer_list<std::string_view> targets) {
    return std::ranges::find(targets, operation.target) != targets.end();
}

bool is_view(const Operation& operation) {
    return is_any_of(operation, {"aten::view", "aten::reshape", "aten::_unsafe_view"});
}

/// True for the operations by which a rank 2 tensor is transposed.
bool swaps_two(const Operation& operation) {
    if (operation.target == "aten::t") return true;
    const auto is = [&](std::string_view name, std::int64_t low, std::int64_t high) {
        const Value* value = find_argument(operation, name);
        const auto* dim = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
        return dim != nullptr && (*dim == low || *dim == high);
    };
    if (operation.target == "aten::transpose.int")
        return (is("dim0", 0, -2) && is("dim1", 1, -1)) || (is("dim0", 1, -1) && is("dim1", 0, -2));
    if (operation.target != "aten::permute") return false;
    const Value* dims = find_argument(operation, "dims");
    const auto* list = dims == nullptr ? nullptr : std::get_if<Integers>(dims);
    return list != nullptr && list->size() == 2 && ((*list)[0] == 1 || (*list)[0] == -1) &&
           ((*list)[1] == 0 || (*list)[1] == -2);
}

/// A file may name a call without what it works on; such a call is left as it stands.
bool begins_with_tensor(const Operation& operation) {
    return !operation.arguments.empty() && std::holds_alternative<TensorType>(operation.arguments.front().value);
}

class Folding {
  public:
    explicit Folding(Graph graph) : graph_(std::move(graph)) {}

    Graph folded() {
        count_uses();
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            for (ValueRef& input : graph_.nodes[i].inputs) input = now(input);
            fold(i);
        }
        for (ValueRef& output : graph_.outputs) output = now(output);
        remove_dropped();
        return std::move(graph_);
    }

  private:
    Node& node(std::int32_t index) { return graph_.nodes[static_cast<std::size_t>(index)]; }
    /// The node that makes a value out of a tensor; nullptr for an input of the graph, and what is made of nothing.
    Node* maker(ValueRef ref) {
        return ref.node < 0 || !begins_with_tensor(node(ref.node).operation) ? nullptr : &node(ref.node);
    }

    void count_uses();
    int& uses(ValueRef ref) { return uses_[static_cast<std::size_t>(ref.node)][static_cast<std::size_t>(ref.output)]; }
    void take(ValueRef ref) {
        if (ref.node >= 0) ++uses(ref);
    }
    void release(ValueRef ref);
    ValueRef now(ValueRef ref) const {
        const auto moved = moved_.find({ref.node, ref.output});
        return moved == moved_.end() ? ref : ValueRef{moved->second, 0};
    }

    void fold(std::size_t index);
    void fold_call(std::size_t index);
    void fold_linear(std::size_t index);
    bool fold_linear_views(std::size_t index);
    bool fold_matmul(std::size_t index);
    void fold_bias(std::size_t index);
    void fold_silu(std::size_t index);
    void fold_copy(std::size_t index);
    void fold_permute(std::size_t index);

    std::vector<std::string> dims(ValueRef ref);
    std::string last_dim(ValueRef ref);
    NodePart first_part(std::int32_t index, std::string name);
    std::optional<std::int32_t> transposition(ValueRef ref);
    std::optional<std::int32_t> expansion(ValueRef ref);
    bool is_weight(ValueRef ref);
    void rebuild(Node& target, std::string name, Parts parts);
    void replace_result(std::size_t view, std::int32_t by);
    void remove_dropped();

    Graph graph_;
    /// Uses of every output by nodes and by the graph's outputs.
    std::vector<std::vector<int>> uses_;
    std::vector<bool> dropped_;
    /// Nodes that were mm or addmm.
    std::vector<bool> was_product_;
    /// Values that another node makes now, as its first output.
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> moved_;
    /// True once a call is seen that only decompositions leave: x * sigmoid(x) may else be what the network says.
    bool is_decomposed_ = false;
};

void Folding::count_uses() {
    for (const Node& each : graph_.nodes) {
        uses_.emplace_back(each.outputs.size());
        is_decomposed_ = is_decomposed_ || is_decomposed_call(each.operation.target);
    }
    for (const Node& each : graph_.nodes)
        for (const ValueRef input : each.inputs) take(input);
    for (const ValueRef output : graph_.outputs) take(output);
    dropped_.resize(graph_.nodes.size());
    was_product_.resize(graph_.nodes.size());
}

/// One use less; a view or copy that nobody takes any more is dropped.
void Folding::release(ValueRef ref) {
    while (ref.node >= 0 && --uses(ref) == 0) {
        const Node* made = maker(ref);
        if (made == nullptr) return;
        if (!is_view(made->operation) &&
            !is_any_of(made->operation, {"aten::t", "aten::transpose.int", "aten::permute", "aten::expand",
                                         "aten::clone", "aten::contiguous"}))
            return;
        dropped_[static_cast<std::size_t>(ref.node)] = true;
        ref = made->inputs.at(0);
    }
}

/// Sizes as texts: the numbers, or the expressions of symbolic ones.
std::vector<std::string> Folding::dims(ValueRef ref) {
    std::vector<std::string> texts;
    for (const std::int64_t size : type_of(graph_, ref).sizes) texts.push_back(std::to_string(size));
    if (ref.node < 0) {
        for (const auto& [dimension, expression] : graph_.inputs[static_cast<std::size_t>(ref.output)].symbolic)
            texts.at(static_cast<std::size_t>(dimension)) = expression.text();
        return texts;
    }
    for (const SymbolicSize& size : node(ref.node).symbolic)
        if (size.place == Place::output_tensor && size.index == ref.output)
            texts.at(static_cast<std::size_t>(size.position)) = size.expression.text();
    return texts;
}

/// Empty for a scalar.
std::string Folding::last_dim(ValueRef ref) {
    const std::vector<std::string> all = dims(ref);
    return all.empty() ? std::string() : all.back();
}

/// The first argument (self, input) of a node that maker() gives, as an argument of another one.
NodePart Folding::first_part(std::int32_t index, std::string name) {
    Node copy = node(index);
    NodePart part = std::move(take_parts(copy).at(0));
    part.name = std::move(name);
    return part;
}

/// The node that transposes the value's rank 2 source, if one does.
std::optional<std::int32_t> Folding::transposition(ValueRef ref) {
    const Node* made = maker(ref);
    if (made == nullptr || type_of(graph_, ref).sizes.size() != 2 || !swaps_two(made->operation)) return std::nullopt;
    return ref.node;
}

/// An input of the graph, cast perhaps: a product of two activations is no layer.
bool Folding::is_weight(ValueRef ref) {
    if (ref.node < 0) return true;
    const Node* made = maker(ref);
    return made != nullptr && is_any_of(made->operation, {"aten::to.dtype", "aten::_to_copy"}) &&
           made->inputs.size() == 1 && made->inputs[0].node < 0;
}

/// For a value that is view(expand(x)) or view(clone(expand(x))), the node that expands.
std::optional<std::int32_t> Folding::expansion(ValueRef ref) {
    const Node* made = maker(ref);
    if (made == nullptr || !is_view(made->operation)) return std::nullopt;
    ValueRef source = made->inputs.at(0);
    made = maker(source);
    if (made != nullptr && is_any_of(made->operation, {"aten::clone", "aten::contiguous"})) {
        source = made->inputs.at(0);
        made = maker(source);
    }
    if (made == nullptr || made->operation.target != "aten::expand") return std::nullopt;
    return source.node;
}

/// Gives a node a new operation; its outputs and their symbolic sizes stay.
void Folding::rebuild(Node& target, std::string name, Parts parts) {
    std::erase_if(target.symbolic, [](const SymbolicSize& size) { return !is_of_output(size); });
    target.operation = {std::move(name), {}};
    target.inputs.clear();
    for (const NodePart& part : parts)
        for (const ValueRef edge : part.edges) take(edge);
    assemble(target, std::move(parts));
}

/// Node `by` makes from here on what `view` made of its result.
void Folding::replace_result(std::size_t view, std::int32_t by) {
    Node& from = graph_.nodes[view];
    Node& to = node(by);
    std::erase_if(to.symbolic, is_of_output);
    for (const SymbolicSize& size : from.symbolic)
        if (is_of_output(size) && size.index == 0) to.symbolic.push_back(size);
    to.outputs = {from.outputs.at(0)};
    uses_[static_cast<std::size_t>(by)] = {uses_[view].at(0)};
    moved_[{static_cast<std::int32_t>(view), 0}] = by;
    dropped_[view] = true;
}

void Folding::fold(std::size_t index) {
    const std::string& target = graph_.nodes[index].operation.target;
    if (is_decomposed_call(target)) fold_call(index);
    if (!begins_with_tensor(graph_.nodes[index].operation)) return;
    if (target == "aten::addmm" || target == "aten::mm") return fold_linear(index);
    if (is_view(graph_.nodes[index].operation) && (fold_linear_views(index) || fold_matmul(index))) return;
    if (!is_decomposed_) return;
    if (target == "aten::add.Tensor") return fold_bias(index);
    if (target == "aten::mul.Tensor") return fold_silu(index);
    if (target == "aten::permute") return fold_permute(index);
    fold_copy(index);
}

/// The first result must be all that is used of a call whose plain form has no other.
void Folding::fold_call(std::size_t index) {
    auto& used = uses_[index];
    if (used.empty() || std::any_of(used.begin() + 1, used.end(), [](int count) { return count > 0; })) return;
    Node plain = graph_.nodes[index];
    Parts parts = take_parts(plain);
    std::string target = plain_call(plain.operation.target, parts);
    // The plain call must have a record that takes these arguments: a half-known one is no gain.
    const Record* record = find_record(target);
    if (record == nullptr) return;
    for (const NodePart& part : parts)
        if (std::ranges::find(record->parameters, part.name, &Parameter::name) == record->parameters.end()) return;
    plain.operation.target = std::move(target);
    plain.outputs.resize(1);
    used.resize(1);
    std::erase_if(plain.symbolic, [](const SymbolicSize& size) { return size.index > 0; });
    assemble(plain, std::move(parts));
    graph_.nodes[index] = std::move(plain);
}

/// addmm(bias, x, w.t()) and mm(x, w.t()).
void Folding::fold_linear(std::size_t index) {
    Node& product = graph_.nodes[index];
    if (find_argument(product.operation, "alpha") != nullptr || find_argument(product.operation, "beta") != nullptr)
        return;
    Node copy = product;
    Parts parts = take_parts(copy);
    const bool has_bias = product.operation.target == "aten::addmm";
    NodePart* weight = find_part(parts, "mat2");
    if (weight == nullptr || weight->edges.size() != 1) return;
    const auto swapped = transposition(weight->edges[0]);
    const TensorType* bias = tensor_of(parts, "self");
    if (!swapped || bias == nullptr || bias->sizes.size() != (has_bias ? 1 : 2)) return;
    if (has_bias && tensor_of(parts, "mat1") == nullptr) return;
    if (!has_bias && !is_weight(node(*swapped).inputs.at(0))) return;
    if (has_bias) rename(parts, "self", "bias");
    rename(parts, has_bias ? "mat1" : "self", "input");
    const std::vector<ValueRef> before = product.inputs;
    *find_part(parts, "mat2") = first_part(*swapped, "weight");
    rebuild(product, "aten::linear", std::move(parts));
    for (const ValueRef edge : before) release(edge);
    was_product_[index] = true;
    is_decomposed_ = true;
}

/// view(linear(view(x))) where the views only merge and split the leading dimensions.
bool Folding::fold_linear_views(std::size_t index) {
    const ValueRef source = graph_.nodes[index].inputs.at(0);
    Node* product = maker(source);
    if (product == nullptr || !was_product_[static_cast<std::size_t>(source.node)] || uses(source) != 1) return false;
    const ValueRef input = product->inputs.at(0);
    const Node* merge = maker(input);
    if (merge == nullptr || !is_view(merge->operation)) return false;
    const ValueRef whole = merge->inputs.at(0);
    std::vector<std::string> from = dims(whole);
    std::vector<std::string> to = dims({static_cast<std::int32_t>(index), 0});
    if (from.size() != to.size() || from.size() < 3 || from.back() != last_dim(input) ||
        to.back() != last_dim(source) || !std::equal(from.begin(), from.end() - 1, to.begin()))
        return false;
    const std::vector<ValueRef> before = product->inputs;
    Node copy = *product;
    Parts parts = take_parts(copy);
    *find_part(parts, "input") = first_part(input.node, "input");
    rebuild(*product, "aten::linear", std::move(parts));
    replace_result(index, source.node);
    for (const ValueRef edge : before) release(edge);
    return true;
}

/// view(bmm(view(expand(a)), view(expand(b)))), by which torch spells out matmul; linear where b is a transposed
/// weight.
bool Folding::fold_matmul(std::size_t index) {
    const ValueRef source = graph_.nodes[index].inputs.at(0);
    Node* product = maker(source);
    if (product == nullptr || product->operation.target != "aten::bmm" || uses(source) != 1) return false;
    if (product->inputs.size() != 2) return false;
    const auto left = expansion(product->inputs.at(0));
    const auto right = expansion(product->inputs.at(1));
    if (!left || !right) return false;
    const std::vector<std::string> result = dims({static_cast<std::int32_t>(index), 0});
    const std::vector<std::string> left_dims = dims({*left, 0});
    const std::vector<std::string> right_dims = dims({*right, 0});
    const std::size_t rank = result.size();
    // Both are expanded to the result's leading dimensions; no vector was made a matrix.
    if (rank < 3 || left_dims.size() != rank || right_dims.size() != rank || left_dims[rank - 2] != result[rank - 2] ||
        right_dims[rank - 1] != result[rank - 1])
        return false;
    const auto lead = static_cast<std::ptrdiff_t>(rank - 2);
    if (!std::equal(left_dims.begin(), left_dims.begin() + lead, result.begin()) ||
        !std::equal(right_dims.begin(), right_dims.begin() + lead, result.begin()))
        return false;
    NodePart a = first_part(*left, "self");
    NodePart b = first_part(*right, "other");
    if (std::get<TensorType>(a.value).sizes.size() < 2 || std::get<TensorType>(b.value).sizes.size() < 2) return false;
    is_decomposed_ = true;
    const std::vector<ValueRef> before = product->inputs;
    const auto swapped = transposition(b.edges.at(0));
    if (swapped && is_weight(node(*swapped).inputs.at(0))) {
        a.name = "input";
        rebuild(*product, "aten::linear", {std::move(a), first_part(*swapped, "weight")});
        was_product_[static_cast<std::size_t>(source.node)] = true;
    } else {
        rebuild(*product, "aten::matmul", {std::move(a), std::move(b)});
    }
    replace_result(index, source.node);
    for (const ValueRef edge : before) release(edge);
    return true;
}

/// linear without bias + a vector as long as its rows.
void Folding::fold_bias(std::size_t index) {
    Node& sum = graph_.nodes[index];
    if (sum.inputs.size() != 2 || find_argument(sum.operation, "alpha") != nullptr) return;
    const ValueRef source = sum.inputs[0];
    Node* product = maker(source);
    if (product == nullptr || !was_product_[static_cast<std::size_t>(source.node)] || uses(source) != 1 ||
        product->inputs.size() != 2)
        return;
    Node copy = sum;
    Parts of_sum = take_parts(copy);
    NodePart* bias = find_part(of_sum, "other");
    const TensorType* type = tensor_of(of_sum, "other");
    if (type == nullptr || type->sizes.size() != 1 || last_dim(source) != last_dim(sum.inputs[1]) ||
        dims(source) != dims({static_cast<std::int32_t>(index), 0}))
        return;
    // What is made after the product cannot be its input.
    if (bias->edges.at(0).node > source.node) return;
    bias->name = "bias";
    const std::vector<ValueRef> before = product->inputs;
    Node linear = *product;
    Parts parts = take_parts(linear);
    parts.push_back(std::move(*bias));
    rebuild(*product, "aten::linear", std::move(parts));
    const ValueRef vector = sum.inputs[1];
    replace_result(index, source.node);
    for (const ValueRef edge : before) release(edge);
    release(vector);
}

/// x * sigmoid(x).
void Folding::fold_silu(std::size_t index) {
    Node& product = graph_.nodes[index];
    if (product.inputs.size() != 2) return;
    for (const std::size_t k : {std::size_t{1}, std::size_t{0}}) {
        const ValueRef gate = product.inputs[k];
        const ValueRef x = product.inputs[1 - k];
        const Node* sigmoid = maker(gate);
        if (sigmoid == nullptr || sigmoid->operation.target != "aten::sigmoid" || uses(gate) != 1 ||
            !(sigmoid->inputs.at(0) == x))
            continue;
        NodePart self = first_part(gate.node, "self");
        rebuild(product, "aten::silu", {std::move(self)});
        dropped_[static_cast<std::size_t>(gate.node)] = true;
        // The sigmoid's use and the product's own are gone, silu's is new.
        release(x);
        release(x);
        return;
    }
}

/// view(clone(x)) is reshape(x), a clone in contiguous form contiguous(x): both copy what does not lie so already.
void Folding::fold_copy(std::size_t index) {
    Node& made = graph_.nodes[index];
    if (made.operation.target != "aten::view") return;
    const ValueRef source = made.inputs.at(0);
    const Node* clone = maker(source);
    if (clone == nullptr || clone->operation.target != "aten::clone" || uses(source) != 1 ||
        find_argument(clone->operation, "memory_format") == nullptr)
        return;
    Node copy = made;
    Parts parts = take_parts(copy);
    *find_part(parts, "self") = first_part(source.node, "self");
    rename(parts, "size", "shape");
    rebuild(made, "aten::reshape", std::move(parts));
    release(source);
}

/// A permutation that swaps two dimensions is a transpose.
void Folding::fold_permute(std::size_t index) {
    Node& made = graph_.nodes[index];
    const Value* dims = find_argument(made.operation, "dims");
    const auto* order = dims == nullptr ? nullptr : std::get_if<Integers>(dims);
    if (order == nullptr) return;
    const auto rank = static_cast<std::int64_t>(order->size());
    if (std::ranges::any_of(*order, [&](std::int64_t dim) { return dim < -rank || dim >= rank; })) return;
    Integers moved;
    for (std::int64_t i = 0; i < rank; ++i)
        if ((order->at(static_cast<std::size_t>(i)) + rank) % rank != i) moved.push_back(i);
    if (moved.size() != 2) return;
    const std::vector<ValueRef> before = made.inputs;
    Parts parts{first_part(static_cast<std::int32_t>(index), "self")};
    parts.push_back({"dim0", moved[0], {}, {}});
    parts.push_back({"dim1", moved[1], {}, {}});
    rebuild(made, "aten::transpose.int", std::move(parts));
    for (const ValueRef edge : before) release(edge);
}

void Folding::remove_dropped() {
    std::vector<std::int32_t> place(graph_.nodes.size(), -1);
    std::vector<Node> kept;
    kept.reserve(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        if (dropped_[i]) continue;
        place[i] = static_cast<std::int32_t>(kept.size());
        kept.push_back(std::move(graph_.nodes[i]));
    }
    const auto renumber = [&](ValueRef& ref) {
        if (ref.node >= 0) ref.node = place[static_cast<std::size_t>(ref.node)];
    };
    for (Node& each : kept)
        for (ValueRef& input : each.inputs) renumber(input);
    for (ValueRef& output : graph_.outputs) renumber(output);
    graph_.nodes = std::move(kept);
}

}  // namespace

Graph fold_decomposed(Graph graph) {
    return graph.has_edges ? Folding(std::move(graph)).folded() : graph;
}

}  // namespace joulecast
