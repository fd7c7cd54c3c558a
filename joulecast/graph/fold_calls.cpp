#include "joulecast/graph/fold_calls.h"

#include <algorithm>
#include <initializer_list>

namespace joulecast {
namespace {

using Parts = std::vector<NodePart>;

template <class T>
const T* value_as(const Parts& parts, std::string_view name) {
    const auto found = std::ranges::find(parts, name, &NodePart::name);
    return found == parts.end() ? nullptr : std::get_if<T>(&found->value);
}

const TensorType* tensor_of(const Parts& parts, std::string_view name) {
    return value_as<TensorType>(parts, name);
}

void rename(Parts& parts, std::string_view from, std::string_view to) {
    if (NodePart* part = find_part(parts, from)) part->name = to;
}

void drop(Parts& parts, std::initializer_list<std::string_view> names) {
    std::erase_if(parts, [&](const NodePart& part) { return std::ranges::find(names, part.name) != names.end(); });
}

void add(Parts& parts, std::string name, Value value) {
    parts.push_back({std::move(name), std::move(value), {}, {}});
}

// --- one call for another --------------------------------------------------------------------------------------------
// Each takes the arguments of a decomposed call, turns them into those of the plain one and returns its target; empty:
// the call stays as it is.

std::string plain_convolution(Parts& parts) {
    const TensorType* input = tensor_of(parts, "input");
    const bool* transposed = value_as<bool>(parts, "transposed");
    if (input == nullptr || transposed == nullptr || input->sizes.size() < 3 || input->sizes.size() > 5) return {};
    const std::string rank = std::to_string(input->sizes.size() - 2) + "d";
    const bool back = *transposed;
    drop(parts, {"transposed"});
    if (!back) drop(parts, {"output_padding"});
    return back ? "aten::conv_transpose" + rank + (rank == "1d" ? "" : ".input") : "aten::conv" + rank;
}

std::string plain_batch_norm(Parts& parts) {
    if (value_as<bool>(parts, "training") == nullptr) add(parts, "training", false);
    add(parts, "cudnn_enabled", true);
    return "aten::batch_norm";
}

std::string plain_layer_norm(Parts& parts) {
    add(parts, "cudnn_enable", true);
    return "aten::layer_norm";
}

std::string plain_group_norm(Parts& parts) {
    drop(parts, {"N", "C", "HxW"});
    rename(parts, "group", "num_groups");
    add(parts, "cudnn_enabled", true);
    return "aten::group_norm";
}

/// half_to_float: the result of an f16 softmax in f32.
std::string plain_softmax(Parts& parts, const char* target) {
    const bool* to_float = value_as<bool>(parts, "half_to_float");
    const bool widens = to_float != nullptr && *to_float;
    drop(parts, {"half_to_float"});
    if (widens) add(parts, "dtype", Dtype::f32);
    return target;
}

/// A copy to another type alone; without a change of type _to_copy still copies, which `to` does not.
std::string plain_cast(Parts& parts) {
    const TensorType* self = tensor_of(parts, "self");
    const Dtype* dtype = value_as<Dtype>(parts, "dtype");
    if (self == nullptr || dtype == nullptr || self->dtype == *dtype) return {};
    drop(parts, {"layout", "device", "pin_memory"});
    return "aten::to.dtype";
}

std::string plain_dropout(Parts& parts) {
    return value_as<bool>(parts, "train") == nullptr ? "" : "aten::dropout";
}

struct Rule {
    std::string_view target;
    std::string (*plain)(Parts&);
};

constexpr Rule rules[] = {
    {"aten::convolution", plain_convolution},
    {"aten::_native_batch_norm_legit_no_training", plain_batch_norm},
    {"aten::_native_batch_norm_legit_functional", plain_batch_norm},
    {"aten::_native_batch_norm_legit", plain_batch_norm},
    {"aten::native_batch_norm", plain_batch_norm},
    {"aten::native_layer_norm", plain_layer_norm},
    {"aten::native_group_norm", plain_group_norm},
    {"aten::_softmax", [](Parts& parts) { return plain_softmax(parts, "aten::softmax.int"); }},
    {"aten::_log_softmax", [](Parts& parts) { return plain_softmax(parts, "aten::log_softmax.int"); }},
    {"aten::max_pool2d_with_indices", [](Parts&) { return std::string("aten::max_pool2d"); }},
    {"aten::max_pool3d_with_indices", [](Parts&) { return std::string("aten::max_pool3d"); }},
    {"aten::_adaptive_avg_pool2d", [](Parts&) { return std::string("aten::adaptive_avg_pool2d"); }},
    {"aten::_adaptive_avg_pool3d", [](Parts&) { return std::string("aten::adaptive_avg_pool3d"); }},
    {"aten::_to_copy", plain_cast},
    {"aten::_unsafe_view", [](Parts&) { return std::string("aten::view"); }},
    {"aten::native_dropout", plain_dropout},
};

}  // namespace

bool is_decomposed_call(std::string_view target) {
    return std::ranges::find(rules, target, &Rule::target) != std::end(rules);
}

std::string plain_call(std::string_view target, std::vector<NodePart>& parts) {
    const auto* const rule = std::ranges::find(rules, target, &Rule::target);
    return rule == std::end(rules) ? std::string() : rule->plain(parts);
}

}  // namespace joulecast
