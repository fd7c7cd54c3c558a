#include "workers/torch/content.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

namespace joulecast::torch_worker {

namespace {

/// "aten::index_add_.out" -> "index_add".
std::string base_name(std::string_view target) {
    if (const auto colon = target.find("::"); colon != std::string_view::npos) target.remove_prefix(colon + 2);
    target = target.substr(0, target.find('.'));
    while (target.ends_with('_')) target.remove_suffix(1);
    return std::string(target);
}

bool in_place(std::string_view target) {
    return target.substr(0, target.find('.')).ends_with('_');
}

const TensorType* tensor_argument(const Operation& operation, std::string_view name) {
    const Value* value = find_argument(operation, name);
    return value == nullptr ? nullptr : std::get_if<TensorType>(value);
}

std::int64_t integer_argument(const Operation& operation, std::string_view name, std::int64_t fallback) {
    const Value* value = find_argument(operation, name);
    const auto* integer = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    return integer == nullptr ? fallback : *integer;
}

/// Size of a dimension, negative ones counted from the end; 0 if there is none.
std::int64_t size_at(const TensorType* type, std::int64_t dimension) {
    if (type == nullptr) return 0;
    const auto rank = static_cast<std::int64_t>(type->sizes.size());
    if (dimension < 0) dimension += rank;
    return dimension < 0 || dimension >= rank ? 0 : type->sizes[static_cast<std::size_t>(dimension)];
}

/// Length of the table that an integer argument indexes, 0 if it indexes none.
std::int64_t table_length(const Operation& operation, const std::string& base, std::string_view argument,
                          std::size_t position) {
    static const std::set<std::string, std::less<>> along_dimension = {
        "gather",    "index_select", "scatter",    "scatter_add",   "scatter_reduce",
        "index_add", "index_copy",   "index_fill", "take_along_dim"};
    if (argument == "indices") {
        if (base.starts_with("embedding")) return size_at(tensor_argument(operation, "weight"), 0);
        if (base.ends_with("index") || base.ends_with("index_put")) {
            return size_at(tensor_argument(operation, "self"), static_cast<std::int64_t>(position));
        }
    }
    if (argument == "index" && along_dimension.contains(base)) {
        return size_at(tensor_argument(operation, "self"), integer_argument(operation, "dim", 0));
    }
    if (argument == "target" && (base.starts_with("nll_loss") || base.starts_with("cross_entropy"))) {
        const TensorType* scores = tensor_argument(operation, "self");
        return size_at(scores, scores != nullptr && scores->sizes.size() > 1 ? 1 : 0);
    }
    if (argument == "self" && base == "one_hot")
        return std::max<std::int64_t>(integer_argument(operation, "num_classes", 0), 0);
    return 0;
}

/// The smallest dimension of the floating tensors: an integer below it is a valid position in any of them.
std::int64_t smallest_size(const Operation& operation) {
    std::int64_t smallest = INT64_MAX;
    for (const TensorType* type : tensors(operation)) {
        if (!is_floating(type->dtype)) continue;
        for (const std::int64_t size : type->sizes) smallest = std::min(smallest, size);
    }
    return smallest == INT64_MAX || smallest < 2 ? 2 : smallest;
}

bool is_variance(std::string_view argument) {
    return argument == "running_var" || argument == "var" || argument == "variance" || argument == "rstd" ||
           argument == "invstd" || argument == "save_invstd" || argument == "save_var";
}

Content float_content(const Operation& operation, const std::string& base, std::string_view argument) {
    static const std::set<std::string, std::less<>> positive_argument = {"sqrt",  "rsqrt", "log",    "log2",   "log10",
                                                                         "log1p", "pow",   "lgamma", "digamma"};
    Content content;
    if (is_variance(argument)) content.kind = Content::Kind::positive;
    if (argument == "self" && positive_argument.contains(base)) content.kind = Content::Kind::positive;
    const bool factor = base == "mul" || base == "div" || base == "multiply" || base == "divide";
    if (argument == "other" && factor && in_place(operation.target)) content.kind = Content::Kind::sign;
    return content;
}

Content integer_content(const Operation& operation, const std::string& base, std::string_view argument,
                        std::size_t position, Dtype dtype) {
    Content content;
    content.kind = Content::Kind::index;
    if (dtype == Dtype::boolean) return content;
    const std::int64_t length = table_length(operation, base, argument, position);
    content.bound = length > 0;
    content.high = content.bound ? length : smallest_size(operation);
    if (dtype == Dtype::u8 || dtype == Dtype::i8) content.high = std::min<std::int64_t>(content.high, 127);
    const bool divides = base == "div" || base == "floor_divide" || base == "remainder" || base == "fmod" ||
                         base == "divide" || base == "bitwise_right_shift";
    if (argument == "other" && divides) {
        content.low = 1;
        content.high = std::max<std::int64_t>(content.high, 2);
    }
    return content;
}

Content content_of(const Operation& operation, const std::string& base, std::string_view argument, std::size_t position,
                   const TensorType& type) {
    return is_floating(type.dtype) ? float_content(operation, base, argument)
                                   : integer_content(operation, base, argument, position, type.dtype);
}

/// Outputs of these hold the same integers as their first tensor: what binds the output binds the input.
bool passes_values_on(const std::string& base) {
    static const std::set<std::string, std::less<>> views = {
        "slice",           "expand",  "unsqueeze", "squeeze", "view",      "reshape",    "flatten",
        "select",          "permute", "to",        "clone",   "detach",    "contiguous", "_to_copy",
        "alias",           "narrow",  "transpose", "t",       "expand_as", "unflatten",  "_unsafe_view",
        "lift_fresh_copy", "chunk",   "split",     "unbind"};
    return views.contains(base);
}

Content weight_content(const GraphInput& input) {
    Content content;
    const auto& sizes = input.type.sizes;
    if (sizes.size() < 2) {
        // Gains of normalisation layers near one, biases near zero.
        content.scale = 0.1F;
        content.offset = input.name.find("bias") == std::string::npos && !sizes.empty() ? 1.0F : 0.0F;
        return content;
    }
    double fan_in = 1.0;
    for (std::size_t i = 1; i < sizes.size(); ++i) fan_in *= static_cast<double>(std::max<std::int64_t>(sizes[i], 1));
    content.scale = static_cast<float>(1.0 / std::sqrt(fan_in));
    return content;
}

/// The stricter of two demands on the same tensor.
void restrict(Content& content, const Content& demand) {
    if (demand.kind == Content::Kind::positive) content.kind = Content::Kind::positive;
    if (!demand.bound) return;
    content.high = content.bound ? std::min(content.high, demand.high) : demand.high;
    content.bound = true;
}

}  // namespace

std::vector<Content> contents(const Operation& operation) {
    std::vector<Content> result;
    const std::string base = base_name(operation.target);
    for (const auto& argument : operation.arguments) {
        if (const auto* type = std::get_if<TensorType>(&argument.value)) {
            result.push_back(content_of(operation, base, argument.name, 0, *type));
        } else if (const auto* list = std::get_if<TensorList>(&argument.value)) {
            for (std::size_t i = 0; i < list->size(); ++i) {
                if ((*list)[i]) result.push_back(content_of(operation, base, argument.name, i, *(*list)[i]));
            }
        }
    }
    return result;
}

std::vector<Content> input_contents(const Graph& graph) {
    std::vector<Content> result;
    for (const auto& input : graph.inputs) {
        Content content;
        const bool weight = input.kind == GraphInput::Kind::parameter || input.kind == GraphInput::Kind::buffer;
        if (weight && is_floating(input.type.dtype)) content = weight_content(input);
        if (!is_floating(input.type.dtype)) content.kind = Content::Kind::index;
        result.push_back(content);
    }
    // Backwards, so that a demand on a view reaches what it is a view of.
    std::vector<Content> demanded(graph.nodes.size());
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        const Node& node = graph.nodes[i];
        const auto wanted = contents(node.operation);
        const bool passes = passes_values_on(base_name(node.operation.target));
        for (std::size_t k = 0; k < node.inputs.size() && k < wanted.size(); ++k) {
            const ValueRef ref = node.inputs[k];
            const auto index = static_cast<std::size_t>(ref.node < 0 ? ref.output : ref.node);
            auto& source = ref.node < 0 ? result : demanded;
            if (index >= source.size()) continue;
            restrict(source[index], wanted[k]);
            if (passes && k == 0) restrict(source[index], demanded[i]);
        }
    }
    return result;
}

}  // namespace joulecast::torch_worker
