#include "joulecast/graph/autocast.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/node_parts.h"
#include "joulecast/graph/record.h"
#include "joulecast/graph/retyping.h"
#include "joulecast/graph/unsupported_error.h"

namespace joulecast {
namespace {

bool is_eligible(const TensorType& type) {
    return type.dtype == Dtype::f32 || type.dtype == Dtype::f16 || type.dtype == Dtype::bf16;
}

class Casting {
  public:
    Casting(const Graph& before, Dtype lower, AutocastDevice device) : graph_(before), lower_(lower), device_(device) {}

    Graph run() {
        for (const Node& node : graph_.before().nodes) add(node);
        return graph_.take();
    }

  private:
    void add(const Node& original) {
        Node node = graph_.arriving(original);
        const auto types = tensors(node.operation);
        obey(node, types);
        take_outputs(original, node);
        graph_.add(std::move(node));
    }

    void obey(Node& node, std::span<TensorType* const> types) {
        const auto policy = autocast_policy(node.operation.target, device_);
        if (!policy) return;
        switch (*policy) {
            case AutocastPolicy::lower:
                return cast_all(node, types, lower_);
            case AutocastPolicy::f32:
                return cast_all(node, types, Dtype::f32);
            case AutocastPolicy::promote:
                if (std::ranges::any_of(types, [](const TensorType* type) { return type->dtype == Dtype::f32; }))
                    cast_all(node, types, Dtype::f32);
                return;
            case AutocastPolicy::f32_dtype:
                // A call that is in f32 anyway would be asked for it in vain.
                if (!types.empty() && is_eligible(*types.front()) && types.front()->dtype != Dtype::f32) ask_f32(node);
                return;
        }
    }

    void cast_all(Node& node, std::span<TensorType* const> types, Dtype dtype) {
        for (std::size_t i = 0; i < types.size(); ++i) {
            if (!is_eligible(*types[i]) || types[i]->dtype == dtype) continue;
            const bool was_whole = lies_alike(*types[i], type_of(graph_.after(), node.inputs[i]));
            node.inputs[i] = cast(node, node.inputs[i], dtype);
            if (was_whole)
                *types[i] = type_of(graph_.after(), node.inputs[i]);
            else
                types[i]->dtype = dtype;
        }
    }

    /// Softmax, sums and norms have an argument for the type of their result. norm takes it in another overload.
    void ask_f32(Node& node) {
        Operation& operation = node.operation;
        const Value* given = find_argument(operation, "dtype");
        if (given != nullptr && std::holds_alternative<Dtype>(*given)) return;
        std::vector<NodePart> parts = take_parts(node);
        // The other overloads have no defaults for these.
        const auto spell_out = [&](std::string_view name, Value value) {
            if (find_part(parts, name) == nullptr) parts.push_back({std::string(name), std::move(value), {}, {}});
        };
        if (operation.target == "aten::norm.Scalar") {
            operation.target = "aten::norm.ScalarOpt_dtype";
            spell_out("p", std::int64_t{2});
        } else if (operation.target == "aten::norm.ScalarOpt_dim") {
            operation.target = "aten::norm.ScalarOpt_dim_dtype";
            spell_out("keepdim", false);
        }
        std::erase_if(parts, [](const NodePart& part) { return part.name == "dtype"; });
        parts.push_back({"dtype", Dtype::f32, {}, {}});
        assemble(node, std::move(parts));
    }

    ValueRef cast(const Node& user, ValueRef source, Dtype dtype) {
        const bool is_parameter =
            source.node < 0 &&
            graph_.after().inputs[static_cast<std::size_t>(source.output)].kind == GraphInput::Kind::parameter;
        const bool keeps = is_parameter && dtype == lower_;
        if (keeps)
            if (const auto known = cast_parameters_.find(source.output); known != cast_parameters_.end())
                return {known->second, 0};
        Node node;
        node.operation = {"aten::_to_copy", {{"self", type_of(graph_.after(), source)}, {"dtype", dtype}}};
        node.inputs = {source};
        node.outputs = find_record("aten::_to_copy")->outputs(node.operation);
        node.module_path = user.module_path;
        node.source_line = user.source_line;
        const ValueRef made = graph_.insert(std::move(node));
        if (keeps) cast_parameters_.emplace(source.output, made.node);
        return made;
    }

    /// The record tells the outputs where it told those of the original call too; else the types of what comes in do.
    void take_outputs(const Node& original, Node& node) const {
        const auto now = outputs_by_record(node.operation);
        if (now && now->size() >= node.outputs.size()) {
            const auto earlier = outputs_by_record(original.operation);
            for (std::size_t i = 0; i < node.outputs.size(); ++i) {
                const bool is_known = earlier && i < earlier->size() && lies_alike((*earlier)[i], original.outputs[i]);
                if (is_known)
                    node.outputs[i] = (*now)[i];
                else
                    node.outputs[i].dtype = (*now)[i].dtype;
            }
            return;
        }
        const auto arriving = tensors(std::as_const(node.operation));
        const auto first = std::ranges::find_if(arriving, [](const TensorType* type) { return is_eligible(*type); });
        if (first == arriving.end()) return;
        for (TensorType& output : node.outputs)
            if (is_eligible(output)) output.dtype = (*first)->dtype;
    }

    RetypedGraph graph_;
    Dtype lower_;
    AutocastDevice device_;
    std::map<std::int32_t, std::int32_t> cast_parameters_;  ///< by graph input: the node that casts it
};

}  // namespace

Graph autocast(const Graph& graph, Dtype lower, AutocastDevice device) {
    if (lower != Dtype::f16 && lower != Dtype::bf16)
        throw Error("autocast to " + std::string(name(lower)) + " is not known; take bf16 or f16");
    if (!graph.has_edges)
        throw UnsupportedError("graph " + graph.name +
                               " is a list of operations without edges, so it is unknown which types " +
                               "autocast would find: take a graph with edges, or the precision bf16 or fp16");
    Graph result = Casting(graph, lower, device).run();
    // Casts have sizes of their own: other sizes are made before casting.
    result.shape_anew =
        std::make_shared<const ShapeAnew>([original = graph, lower, device](const SymbolValues& values) {
            return autocast(with_symbols(original, values), lower, device);
        });
    return graph.mode == Mode::training ? to_training(result) : result;
}

}  // namespace joulecast
