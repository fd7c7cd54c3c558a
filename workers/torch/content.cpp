#include "workers/torch/content.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
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

std::int64_t elements(const TensorType* type) {
    return type == nullptr ? 0 : element_count(*type);
}

/// Product of an integer list's items, 0 if there is none.
std::int64_t list_product(const Operation& operation, std::string_view name) {
    const Value* value = find_argument(operation, name);
    const auto* list = value == nullptr ? nullptr : std::get_if<Integers>(value);
    if (list == nullptr) return 0;
    return std::accumulate(list->begin(), list->end(), std::int64_t{1}, std::multiplies<>());
}

/// Elements of the last `count` dimensions.
std::int64_t spatial_elements(const TensorType* type, std::size_t count) {
    if (type == nullptr || type->sizes.size() < count) return 0;
    const auto first = type->sizes.end() - static_cast<std::ptrdiff_t>(count);
    return std::accumulate(first, type->sizes.end(), std::int64_t{1}, std::multiplies<>());
}

/// "max_unpool2d" -> 2.
std::size_t spatial_dimensions(const std::string& base) {
    const std::size_t digit = base.find_first_of("123");
    return digit == std::string::npos ? 1 : static_cast<std::size_t>(base[digit] - '0');
}

std::int64_t index_list_length(const Operation& operation, const std::string& base, std::size_t position) {
    if (base == "embedding_renorm") return size_at(find_tensor(operation, "self"), 0);
    if (base == "embedding_dense_backward") return integer_argument(operation, "num_weights", 0);
    if (base.starts_with("embedding") || base.starts_with("_embedding")) {
        return size_at(find_tensor(operation, "weight"), 0);
    }
    if (base.starts_with("max_unpool")) return list_product(operation, "output_size");
    if (base.find("pool") != std::string::npos) {
        return spatial_elements(find_tensor(operation, "self"), spatial_dimensions(base));
    }
    if (base == "take_along_dim") {
        const TensorType* self = find_tensor(operation, "self");
        const Value* dim = find_argument(operation, "dim");
        const bool whole = dim == nullptr || std::holds_alternative<None>(*dim);
        return whole ? elements(self) : size_at(self, integer_argument(operation, "dim", 0));
    }
    if (base.ends_with("index") || base.ends_with("index_put")) {
        return size_at(find_tensor(operation, "self"), static_cast<std::int64_t>(position));
    }
    return 0;
}

/// Length of the table that an integer argument indexes, 0 if it indexes none.
std::int64_t table_length(const Operation& operation, const std::string& base, std::string_view argument,
                          std::size_t position) {
    static const std::set<std::string, std::less<>> along_dimension = {"gather",      "index_select",   "scatter",
                                                                       "scatter_add", "scatter_reduce", "index_add",
                                                                       "index_copy",  "index_fill",     "index_reduce"};
    if (argument == "indices") return index_list_length(operation, base, position);
    if (argument == "index" && (base == "take" || base == "put")) return elements(find_tensor(operation, "self"));
    if (argument == "targets" && base.ends_with("ctc_loss")) return size_at(find_tensor(operation, "log_probs"), -1);
    if (argument == "input_lengths") return size_at(find_tensor(operation, "log_probs"), 0);
    if (argument == "target_lengths") return size_at(find_tensor(operation, "targets"), -1);
    if (argument == "index" && along_dimension.contains(base)) {
        return size_at(find_tensor(operation, "self"), integer_argument(operation, "dim", 0));
    }
    if (argument == "target" && (base.starts_with("nll_loss") || base.starts_with("cross_entropy") ||
                                 base.starts_with("multi_margin") || base.starts_with("multilabel_margin"))) {
        const TensorType* scores = find_tensor(operation, "self");
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

/// Probabilities, and places between 0 and 1.
bool is_probability(const std::string& base, std::string_view argument) {
    static const std::set<std::string, std::less<>> of_self = {"bernoulli", "multinomial", "logit", "erfinv",
                                                               "binary_cross_entropy"};
    if (argument == "self") return of_self.contains(base);
    if (argument == "target") return base == "binary_cross_entropy" || base == "binary_cross_entropy_with_logits";
    return argument == "random_samples" || (argument == "q" && base.ends_with("quantile")) ||
           (argument == "p" && base == "bernoulli");
}

Content float_content(const Operation& operation, const std::string& base, std::string_view argument) {
    static const std::set<std::string, std::less<>> positive_argument = {"sqrt",  "rsqrt", "log",    "log2",   "log10",
                                                                         "log1p", "pow",   "lgamma", "digamma"};
    Content content;
    if (is_variance(argument) || argument == "std" || base == "poisson") content.kind = Content::Kind::positive;
    if (is_probability(base, argument)) content.kind = Content::Kind::unit;
    if (argument == "self" && positive_argument.contains(base)) content.kind = Content::Kind::positive;
    const bool factor = base == "mul" || base == "div" || base == "multiply" || base == "divide";
    if (argument == "other" && factor && in_place(operation.target)) content.kind = Content::Kind::sign;
    return content;
}

/// Integers that must add up or ascend; absent for plain ones.
std::optional<Content> ordered_content(const Operation& operation, const std::string& base, std::string_view argument) {
    Content content;
    content.bound = true;
    if (argument == "offsets") {
        content.kind = Content::Kind::ascending;
        content.high = elements(find_tensor(operation, "indices"));
        return content;
    }
    content.kind = Content::Kind::shares;
    if (argument == "batch_sizes") {
        content.high = size_at(find_tensor(operation, "data"), 0);
        return content;
    }
    if (argument == "repeats" && base == "repeat_interleave") {
        content.high = integer_argument(operation, "output_size", elements(find_tensor(operation, "repeats")));
        return content;
    }
    return std::nullopt;
}

Content integer_content(const Operation& operation, const std::string& base, std::string_view argument,
                        std::size_t position, Dtype dtype) {
    Content content;
    content.kind = Content::Kind::index;
    if (dtype == Dtype::boolean) return content;
    if (const auto ordered = ordered_content(operation, base, argument)) return *ordered;
    const std::int64_t length = table_length(operation, base, argument, position);
    content.bound = length > 0;
    content.high = content.bound ? length : smallest_size(operation);
    if (dtype == Dtype::u8 || dtype == Dtype::i8) content.high = std::min<std::int64_t>(content.high, 127);
    if (argument == "targets" || argument == "input_lengths" || argument == "target_lengths") content.low = 1;
    if (argument == "input_lengths") content.low = content.high++;  // all time steps count
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
        // Gains of normalisation layers near one, biases near zero; what the calls say of it counts more (centre).
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
    const bool orders = demand.kind == Content::Kind::ascending || demand.kind == Content::Kind::shares;
    if (demand.kind == Content::Kind::positive || demand.kind == Content::Kind::unit || orders) {
        content.kind = demand.kind;
    }
    if (!demand.bound) return;
    content.high = content.bound ? std::min(content.high, demand.high) : demand.high;
    content.bound = true;
}

/// The name of the argument that each of tensors(operation) stands in.
std::vector<std::string_view> argument_names(const Operation& operation) {
    std::vector<std::string_view> names;
    for (const auto& argument : operation.arguments) {
        if (std::holds_alternative<TensorType>(argument.value)) names.push_back(argument.name);
        if (const auto* list = std::get_if<TensorList>(&argument.value))
            names.insert(names.end(),
                         static_cast<std::size_t>(std::count_if(list->begin(), list->end(),
                                                                [](const auto& type) { return type.has_value(); })),
                         argument.name);
    }
    return names;
}

/// What is taken off or added lies around zero: batch norm that took a mean of one off values around zero would leave
/// ReLU nothing but zeros, and the network would run on those from there on (quicker in max_pool2d, and cooler).
void centre(Content& content, std::string_view argument) {
    if (argument == "running_mean" || argument == "bias") content.offset = 0.0F;
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
        const auto names = argument_names(node.operation);
        const bool passes = passes_values_on(base_name(node.operation.target));
        for (std::size_t k = 0; k < node.inputs.size() && k < wanted.size(); ++k) {
            const ValueRef ref = node.inputs[k];
            const auto index = static_cast<std::size_t>(ref.node < 0 ? ref.output : ref.node);
            auto& source = ref.node < 0 ? result : demanded;
            if (index >= source.size()) continue;
            restrict(source[index], wanted[k]);
            if (ref.node < 0) centre(source[index], names[k]);
            if (passes && k == 0) restrict(source[index], demanded[i]);
        }
    }
    return result;
}

}  // namespace joulecast::torch_worker
