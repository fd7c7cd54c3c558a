#include "joulecast/graph/fp8.h"

#include <algorithm>
#include <map>
#include <utility>

#include "joulecast/graph/record.h"
#include "joulecast/graph/unsupported_error.h"

namespace joulecast {
namespace {

/// What torch._scaled_mm asks of both sizes of a weight.
constexpr std::int64_t granule = 16;
/// The largest number in f8e4m3fn.
constexpr double largest = 448;

/// A linear layer as its call names it.
struct Linear {
    std::size_t input = 0;  ///< places among the call's tensors
    std::size_t weight = 0;
    std::optional<std::size_t> bias;
    bool is_turned = false;  ///< the weight is stored as [outputs, inputs]
};

std::optional<Linear> linear_of(const Operation& operation) {
    const auto inputs = tensors(operation);
    if (operation.target == "aten::linear" && inputs.size() >= 2)
        return Linear{0, 1, inputs.size() > 2 ? std::optional<std::size_t>(2) : std::nullopt, true};
    const bool is_plain = find_argument(operation, "beta") == nullptr && find_argument(operation, "alpha") == nullptr;
    // The kernel adds a bias for each column, not a matrix.
    if (operation.target == "aten::addmm" && is_plain && inputs.size() == 3 && inputs[0]->sizes.size() == 1)
        return Linear{1, 2, 0, false};
    return std::nullopt;
}

bool is_multiple(const TensorType& weight) {
    return weight.sizes.size() == 2 &&
           std::ranges::all_of(weight.sizes, [](std::int64_t size) { return size > 0 && size % granule == 0; });
}

/// The linear layer that this call is and that the kernel can compute, if its weight is a parameter.
std::optional<Linear> eligible(const Graph& graph, const Node& node) {
    const auto linear = linear_of(node.operation);
    const auto inputs = tensors(node.operation);
    if (!linear || node.inputs.size() != inputs.size()) return std::nullopt;
    const ValueRef weight = node.inputs[linear->weight];
    if (weight.node >= 0 ||
        graph.inputs.at(static_cast<std::size_t>(weight.output)).kind != GraphInput::Kind::parameter)
        return std::nullopt;
    const TensorType& input = *inputs[linear->input];
    const bool fits = is_multiple(*inputs[linear->weight]) && inputs[linear->weight]->dtype == Dtype::bf16 &&
                      input.dtype == Dtype::bf16 && !input.sizes.empty() && element_count(input) > 0;
    return fits ? linear : std::nullopt;
}

class Quantizing {
  public:
    explicit Quantizing(const Graph& before) : before_(before), after_(before) {
        after_.nodes.clear();
        choose_weights();
    }

    Graph run() {
        for (const Node& node : before_.nodes) {
            const auto linear = eligible(before_, node);
            if (linear && scales_.contains(node.inputs[linear->weight].output))
                moved_.push_back(product(node, *linear));
            else
                keep(node);
        }
        for (ValueRef& output : after_.outputs) output = moved(output);
        return std::move(after_);
    }

  private:
    /// Weights that eligible calls alone use, and the inputs that their scales get.
    void choose_weights() {
        std::map<std::int32_t, std::int64_t> uses, eligible_uses;
        std::map<std::int32_t, bool> is_turned;
        for (const Node& node : before_.nodes) {
            for (const ValueRef ref : node.inputs)
                if (ref.node < 0) ++uses[ref.output];
            if (const auto linear = eligible(before_, node)) {
                const std::int32_t weight = node.inputs[linear->weight].output;
                ++eligible_uses[weight];
                is_turned[weight] = linear->is_turned;
            }
        }
        for (const ValueRef ref : before_.outputs)
            if (ref.node < 0) ++uses[ref.output];
        for (const auto& [weight, count] : eligible_uses) {
            if (uses[weight] != count) continue;
            GraphInput& input = after_.inputs[static_cast<std::size_t>(weight)];
            const Sizes sizes = input.type.sizes;
            // The kernel reads the second operand column by column: the one stored row by row is stored so instead.
            const Strides by_column{1, sizes[0]};
            input.type = strided(Dtype::f8e4m3fn, sizes, is_turned[weight] ? contiguous_strides(sizes) : by_column);
            const std::string name = input.name;
            scales_[weight] = {add_scale(name + ".activation_scale"), add_scale(name + ".scale")};
        }
        if (scales_.empty())
            throw UnsupportedError("graph " + before_.name +
                                   " has no linear layer that can be a product of fp8: their sizes " +
                                   "must be multiples of 16. Take --precision bf16");
    }

    ValueRef add_scale(std::string name) {
        after_.inputs.push_back({std::move(name), GraphInput::Kind::constant, TensorType{Dtype::f32, {}}, {}});
        return {-1, static_cast<std::int32_t>(after_.inputs.size() - 1)};
    }

    ValueRef moved(ValueRef ref) const {
        if (ref.node < 0) return ref;
        const ValueRef start = moved_.at(static_cast<std::size_t>(ref.node));
        return {start.node, start.output + ref.output};
    }

    void keep(const Node& node) {
        Node kept = node;
        for (ValueRef& input : kept.inputs) input = moved(input);
        kept.symbolic.clear();  // see shape_anew below
        moved_.push_back({static_cast<std::int32_t>(after_.nodes.size()), 0});
        after_.nodes.push_back(std::move(kept));
    }

    /// One more call, its tensors in the order of `inputs`; returns its output.
    ValueRef add(const Node& origin, Operation operation, std::vector<ValueRef> inputs) {
        Node node;
        node.operation = canonical(std::move(operation));
        node.inputs = std::move(inputs);
        node.outputs = find_record(node.operation.target)->outputs(node.operation);
        node.module_path = origin.module_path;
        node.source_line = origin.source_line;
        node.count = origin.count;
        after_.nodes.push_back(std::move(node));
        return {static_cast<std::int32_t>(after_.nodes.size() - 1), 0};
    }

    const TensorType& type(ValueRef ref) const { return type_of(after_, ref); }

    /// As eager code writes it: three kernels.
    ValueRef quantized(const Node& origin, ValueRef activation, ValueRef scale) {
        ValueRef at = add(origin, {"aten::div.Tensor", {{"self", type(activation)}, {"other", type(scale)}}},
                          {activation, scale});
        at = add(origin, {"aten::clamp", {{"self", type(at)}, {"min", -largest}, {"max", largest}}}, {at});
        return add(origin, {"aten::_to_copy", {{"self", type(at)}, {"dtype", Dtype::f8e4m3fn}}}, {at});
    }

    ValueRef product(const Node& node, const Linear& linear) {
        const ValueRef weight = node.inputs[linear.weight];
        const auto [activation_scale, weight_scale] = scales_.at(weight.output);
        ValueRef at = moved(node.inputs[linear.input]);
        Sizes sizes = type(at).sizes;
        const bool is_matrix = sizes.size() == 2;
        if (!is_matrix) {
            const std::int64_t rows = element_count(type(at)) / sizes.back();
            at = add(node, {"aten::reshape", {{"self", type(at)}, {"shape", Sizes{rows, sizes.back()}}}}, {at});
        }
        at = quantized(node, at, activation_scale);
        ValueRef right = weight;
        if (linear.is_turned) right = add(node, {"aten::t", {{"self", type(weight)}}}, {weight});
        Operation call{"aten::_scaled_mm",
                       {{"self", type(at)},
                        {"mat2", type(right)},
                        {"scale_a", type(activation_scale)},
                        {"scale_b", type(weight_scale)}}};
        std::vector<ValueRef> inputs{at, right, activation_scale, weight_scale};
        if (linear.bias) {
            inputs.push_back(moved(node.inputs[*linear.bias]));
            call.arguments.push_back({"bias", type(inputs.back())});
        }
        call.arguments.push_back({"out_dtype", Dtype::bf16});
        call.arguments.push_back({"use_fast_accum", true});
        at = add(node, std::move(call), std::move(inputs));
        if (is_matrix) return at;
        sizes.back() = type(at).sizes.back();
        return add(node, {"aten::view", {{"self", type(at)}, {"size", std::move(sizes)}}}, {at});
    }

    const Graph& before_;
    Graph after_;
    std::map<std::int32_t, std::pair<ValueRef, ValueRef>> scales_;  ///< by weight: of its activations, its own
    std::vector<ValueRef> moved_;                                   ///< by node: its first output now
};

}  // namespace

Graph with_fp8_linears(const Graph& graph) {
    if (!graph.has_edges)
        throw UnsupportedError("graph " + graph.name +
                               " is a list of operations without edges, so it is unknown which tensors " +
                               "are weights: take a graph with edges, or the precision bf16");
    Graph result = Quantizing(graph).run();
    result.shape_anew = std::make_shared<const ShapeAnew>(
        [original = graph](const SymbolValues& values) { return with_fp8_linears(with_symbols(original, values)); });
    return result;
}

}  // namespace joulecast
