#include "joulecast/graph/channels_last.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/graph/family.h"
#include "joulecast/graph/record.h"
#include "joulecast/graph/retyping.h"
#include "joulecast/graph/strides.h"
#include "joulecast/graph/unsupported_error.h"

namespace joulecast {
namespace {

constexpr std::size_t dimensions_of_images = 4;

/// Kernels for a GPU that ask for contiguous images, and return such: native_group_norm (aten/src/ATen/native/
/// group_norm.cpp) and ReflectionPad.cu, ReplicationPadding.cu beside it.
constexpr std::array takes_contiguous = {std::string_view("aten::group_norm"),
                                         std::string_view("aten::reflection_pad2d"),
                                         std::string_view("aten::replication_pad2d")};

bool takes_contiguous_images(const Operation& operation) {
    if (std::ranges::find(takes_contiguous, operation.target) != takes_contiguous.end()) return true;
    if (operation.target != "aten::pad") return false;  // calls these by its mode
    const Value* const given = find_argument(operation, "mode");
    const auto* const mode = given ? std::get_if<std::string>(given) : nullptr;
    return mode && (*mode == "reflect" || *mode == "replicate");
}

bool is_image(const TensorType& type) {
    return type.sizes.size() == dimensions_of_images && is_floating(type.dtype);
}

TensorType turned(const TensorType& type) {
    TensorType last = channels_last(type.dtype, type.sizes);
    last.requires_grad = type.requires_grad;
    return last;
}

/// A language model's caches have four dimensions, too.
bool has_images(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        const Family kind = family(node.operation);
        const bool takes_images =
            kind == Family::convolution || kind == Family::pooling || kind == Family::normalization;
        const auto types = tensors(node.operation);
        return takes_images && !types.empty() && is_image(*types.front());
    });
}

std::vector<TensorType> returned(const Node& node, const std::string& network) {
    try {
        return find_record(node.operation.target)->outputs(node.operation);
    } catch (const FormatError& error) {
        throw UnsupportedError(network + " does not run with its channels last: " + error.what() +
                               ". PyTorch refuses that call, too; reshape() in the place of view() copies there");
    }
}

class Turning {
  public:
    Turning(const Graph& before, AutocastDevice device) : graph_(before), device_(device) {
        const bool turns_given = has_images(before);
        for (GraphInput& input : graph_.after().inputs) {
            const bool is_given = input.kind == GraphInput::Kind::user_input;
            const bool is_turned = is_image(input.type) && is_contiguous(input.type) && (turns_given || !is_given);
            if (is_turned) input.type = turned(input.type);
        }
    }

    Graph run() {
        for (const Node& node : graph_.before().nodes) add(node);
        return graph_.take();
    }

  private:
    void add(const Node& original) {
        Node node = graph_.arriving(original);
        const auto types = tensors(node.operation);
        const bool is_turned = is_convolution_with_channels_last(node, types);
        if (device_ == AutocastDevice::cuda) copy_inside(node, types, is_turned);
        take_outputs(original, node);
        if (is_turned) node.outputs.front() = turned(node.outputs.front());
        graph_.add(std::move(node));
    }

    /// Weights of one place or one channel lie both ways, and torch goes by the strides that the module's have.
    bool is_convolution_with_channels_last(const Node& node, std::span<TensorType* const> types) const {
        constexpr std::size_t weight = 1;
        if (family(node.operation) != Family::convolution || types.size() <= weight || node.outputs.empty())
            return false;
        if (!is_image(*types.front()) || !is_image(*types[weight]) || !is_image(node.outputs.front())) return false;
        return records::suggests_channels_last(*types.front()) || is_channels_last(*types[weight]) ||
               node.inputs[weight].node < 0;
    }

    void copy_inside(Node& node, std::span<TensorType* const> types, bool is_turned) {
        if (types.empty() || !is_image(*types.front())) return;
        const bool to_contiguous = takes_contiguous_images(node.operation) && is_channels_last(*types.front());
        const bool to_channels_last = is_turned && is_contiguous(*types.front());
        if (!to_contiguous && !to_channels_last) return;
        const TensorType wanted =
            to_contiguous ? TensorType{types.front()->dtype, types.front()->sizes} : turned(*types.front());
        if (lies_alike(wanted, *types.front())) return;  // of one channel or one place
        node.inputs.front() = copied(node, to_channels_last);
        *types.front() = type_of(graph_.after(), node.inputs.front());
    }

    ValueRef copied(const Node& user, bool to_channels_last) {
        Node node;
        node.operation = {"aten::contiguous", {{"self", type_of(graph_.after(), user.inputs.front())}}};
        if (to_channels_last) node.operation.arguments.push_back({"memory_format", std::string("channels_last")});
        node.inputs = {user.inputs.front()};
        node.outputs = find_record("aten::contiguous")->outputs(node.operation);
        node.module_path = user.module_path;
        node.source_line = user.source_line;
        return graph_.insert(std::move(node));
    }

    /// Where the record told what the call returned it tells what it returns now; elsewhere nothing is known to change.
    void take_outputs(const Node& original, Node& node) const {
        const auto earlier = outputs_by_record(original.operation);
        if (!earlier) return;
        const std::vector<TensorType> now = returned(node, graph_.before().name);
        for (std::size_t i = 0; i < node.outputs.size() && i < now.size() && i < earlier->size(); ++i)
            if (lies_alike((*earlier)[i], original.outputs[i])) node.outputs[i] = now[i];
    }

    RetypedGraph graph_;
    AutocastDevice device_;
};

}  // namespace

Graph with_channels_last(const Graph& graph, AutocastDevice device) {
    if (!graph.has_edges)
        throw UnsupportedError("graph " + graph.name +
                               " is a list of operations without edges, so it is unknown which tensors would lie with "
                               "their channels last: take a graph with edges");
    Graph after = Turning(graph, device).run();
    // Sizes are made before: strides have none of their own.
    after.shape_anew = std::make_shared<const ShapeAnew>([original = graph, device](const SymbolValues& values) {
        return with_channels_last(with_symbols(original, values), device);
    });
    return graph.mode == Mode::training ? to_training(after) : after;
}

}  // namespace joulecast
