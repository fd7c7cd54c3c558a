#include "lab/published/fx_node.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "joulecast/units/one_of.h"

namespace joulecast {
namespace {

constexpr const char* python = "python code, no tensor operation";
constexpr const char* view = "a view: no kernel, its time is that of the events around it";
constexpr double dropout_share = 0.1;  ///< that all these networks have
/// What attention adds to hidden scores: torch.finfo(torch.float32).min.
constexpr double lowest_f32 = -3.4028234663852886e+38;

FxCall called(std::string target, std::vector<Argument> arguments) {
    return {Operation{std::move(target), std::move(arguments)}, {}, true};
}

FxCall none(const char* why) {
    return {{}, why, true};
}

bool is_tensor(const Sizes& sizes) {
    return sizes != Sizes{1};
}

/// Floating tensors have gradients where the node was measured backward.
TensorType tensor(const FxNode& node, Dtype dtype, Sizes sizes) {
    TensorType type{dtype, std::move(sizes)};
    type.requires_grad = node.has_backward && is_floating(dtype);
    return type;
}

TensorType f32(const FxNode& node, Sizes sizes) {
    return tensor(node, Dtype::f32, std::move(sizes));
}

/// Without a gradient: masks and tables of constants.
TensorType plain(Dtype dtype, Sizes sizes) {
    return {dtype, std::move(sizes)};
}

/// Type of a node's operands, which the table does not tell: as the result's, whole numbers for comparisons.
Dtype operand_dtype(const FxNode& node) {
    const Dtype result = node.dtype.value_or(Dtype::f32);
    return result == Dtype::boolean ? Dtype::i64 : result;
}

// --- functions and methods; each may assume a result that is a tensor

const Sizes& input(const FxNode& node, std::size_t index) {
    static const Sizes scalar{1};
    return index < node.inputs.size() ? node.inputs[index] : scalar;
}

Value number(Dtype dtype, double value) {
    if (is_floating(dtype)) return value;
    return static_cast<std::int64_t>(value);
}

/// Of two tensors the smaller one is a mask or a constant, to which no gradient flows.
FxCall binary(const FxNode& node, const std::string& name) {
    const Dtype dtype = operand_dtype(node);
    const bool swapped = !is_tensor(input(node, 0)) && is_tensor(input(node, 1));
    const Sizes& self = input(node, swapped ? 1 : 0);
    const Sizes& other = input(node, swapped ? 0 : 1);
    if (!is_tensor(other))
        return called("aten::" + name + ".Tensor", {{"self", tensor(node, dtype, self)}, {"other", number(dtype, 2)}});
    const auto operand = [&](const Sizes& sizes) {
        return sizes == node.output ? tensor(node, dtype, sizes) : plain(dtype, sizes);
    };
    return called("aten::" + name + ".Tensor", {{"self", operand(self)}, {"other", operand(other)}});
}

template <const char* const& name>
FxCall two_of(const FxNode& node, const FxGraph&) {
    return binary(node, name);
}
constexpr const char* add_name = "add";
constexpr const char* sub_name = "sub";
constexpr const char* mul_name = "mul";
constexpr const char* div_name = "div";
constexpr const char* eq_name = "eq";
constexpr const char* ne_name = "ne";
constexpr const char* lt_name = "lt";
constexpr const char* gt_name = "gt";

FxCall power(const FxNode& node, const FxGraph&) {
    return called("aten::pow.Tensor_Scalar", {{"self", f32(node, input(node, 0))}, {"exponent", 3.0}});
}

template <const char* const& target>
FxCall one_of(const FxNode& node, const FxGraph&) {
    return called(target, {{"self", f32(node, input(node, 0))}});
}
constexpr const char* gelu_target = "aten::gelu";
constexpr const char* relu_target = "aten::relu";
constexpr const char* tanh_target = "aten::tanh";

FxCall softmax(const FxNode& node, const FxGraph&) {
    return called("aten::softmax.int", {{"self", f32(node, input(node, 0))}, {"dim", std::int64_t{-1}}});
}

FxCall dropout(const FxNode& node, const FxGraph&) {
    if (!node.training) return none(view);
    return called("aten::dropout", {{"input", f32(node, input(node, 0))}, {"p", dropout_share}, {"train", true}});
}

template <const char* const& target, const char* const& second>
FxCall product(const FxNode& node, const FxGraph&) {
    return called(target, {{"self", f32(node, input(node, 0))}, {second, f32(node, input(node, 1))}});
}
constexpr const char* matmul_target = "aten::matmul";
constexpr const char* bmm_target = "aten::bmm";
constexpr const char* other_name = "other";
constexpr const char* mat2_name = "mat2";

FxCall addmm(const FxNode& node, const FxGraph&) {
    return called("aten::addmm", {{"self", f32(node, input(node, 0))},
                                  {"mat1", f32(node, input(node, 1))},
                                  {"mat2", f32(node, input(node, 2))}});
}

FxCall lookup(const FxNode& node, Sizes indices, Sizes table) {
    return called("aten::embedding",
                  {{"weight", f32(node, std::move(table))}, {"indices", plain(Dtype::i64, std::move(indices))}});
}

FxCall embedding(const FxNode& node, const FxGraph&) {
    return lookup(node, input(node, 0), input(node, 1));
}

FxCall where(const FxNode& node, const FxGraph&) {
    return called("aten::where.self", {{"condition", plain(Dtype::boolean, input(node, 0))},
                                       {"self", f32(node, input(node, 1))},
                                       {"other", plain(Dtype::f32, {})}});
}

template <const char* const& target>
FxCall masked_fill(const FxNode& node, const FxGraph&) {
    return called(
        target,
        {{"self", f32(node, input(node, 0))}, {"mask", plain(Dtype::boolean, input(node, 1))}, {"value", lowest_f32}});
}
constexpr const char* masked_fill_target = "aten::masked_fill.Scalar";
constexpr const char* masked_fill_in_place_target = "aten::masked_fill_.Scalar";

FxCall maximum(const FxNode& node, const FxGraph&) {
    return called("aten::max.other", {{"self", f32(node, input(node, 0))}, {"other", plain(Dtype::f32, {})}});
}

FxCall cumsum(const FxNode& node, const FxGraph&) {
    return called("aten::cumsum",
                  {{"self", tensor(node, operand_dtype(node), input(node, 0))}, {"dim", std::int64_t{1}}});
}

FxCall ones(const FxNode& node, const FxGraph&) {
    return called("aten::ones", {{"size", node.output}});
}

FxCall full(const FxNode& node, const FxGraph&) {
    return called("aten::full", {{"size", is_tensor(node.output) ? node.output : Sizes{}}, {"fill_value", lowest_f32}});
}

FxCall arange(const FxNode& node, const FxGraph&) {
    return called("aten::arange", {{"end", node.output.empty() ? std::int64_t{1} : node.output.front()}});
}

/// to, type, long, bool: of a floating tensor, unless the result is one too: then nothing is left to do.
FxCall conversion(const FxNode& node, const FxGraph&) {
    if (is_floating(*node.dtype)) return none(view);
    return called("aten::to.dtype", {{"self", plain(Dtype::f32, input(node, 0))}, {"dtype", *node.dtype}});
}

/// The strides that a tensor of `sizes` has after the two dimensions were swapped in which they differ from `before`.
std::optional<TensorType> swapped(const FxNode& node, const FxNode& transposition) {
    if (transposition.inputs.empty()) return {};
    const Sizes& before = transposition.inputs.front();
    const Sizes& after = transposition.output;
    if (before.size() != after.size() || after.size() < 2) return {};
    const std::size_t rank = after.size();
    for (std::size_t i = rank - 1; i-- > 0;) {
        for (std::size_t j = i + 1; j < rank; ++j) {
            Sizes exchanged = before;
            std::swap(exchanged[i], exchanged[j]);
            if (exchanged != after) continue;
            Strides strides = contiguous_strides(before);
            std::swap(strides[i], strides[j]);
            TensorType type = strided(Dtype::f32, after, strides);
            type.requires_grad =
                node.training;  // the table has no time backward: the gradient is copied with its taker
            return type;
        }
    }
    return {};
}

/// contiguous and reshape copy what the node before has swapped, and are views otherwise.
template <bool reshapes>
FxCall copy(const FxNode& node, const FxGraph& graph) {
    if (graph.transposed == nullptr || graph.transposed->output != input(node, 0)) return none(view);
    const auto type = swapped(node, *graph.transposed);
    if (!type) return none(view);
    if (!reshapes) return called("aten::contiguous", {{"self", *type}});
    return called("aten::reshape", {{"self", *type}, {"shape", node.output}});
}

FxCall a_view(const FxNode&, const FxGraph&) {
    return none(view);
}

using Translate = FxCall (*)(const FxNode&, const FxGraph&);

const std::map<std::string_view, Translate>& translations() {
    static const std::map<std::string_view, Translate> translations = {
        {"add", &two_of<add_name>},
        {"sub", &two_of<sub_name>},
        {"mul", &two_of<mul_name>},
        {"truediv", &two_of<div_name>},
        {"div", &two_of<div_name>},
        {"eq", &two_of<eq_name>},
        {"ne", &two_of<ne_name>},
        {"lt", &two_of<lt_name>},
        {"gt", &two_of<gt_name>},
        {"pow", &power},
        {"gelu", &one_of<gelu_target>},
        {"relu", &one_of<relu_target>},
        {"tanh", &one_of<tanh_target>},
        {"softmax", &softmax},
        {"dropout", &dropout},
        {"matmul", &product<matmul_target, other_name>},
        {"bmm", &product<bmm_target, mat2_name>},
        {"addmm", &addmm},
        {"embedding", &embedding},
        {"where", &where},
        {"masked_fill", &masked_fill<masked_fill_target>},
        {"masked_fill_", &masked_fill<masked_fill_in_place_target>},
        {"max", &maximum},
        {"cumsum", &cumsum},
        {"ones", &ones},
        {"full", &full},
        {"tensor", &full},
        {"arange", &arange},
        {"to", &conversion},
        {"type", &conversion},
        {"type_as", &a_view},
        {"long", &conversion},
        {"bool", &conversion},
        {"float", &conversion},
        {"contiguous", &copy<false>},
        {"reshape", &copy<true>},
        {"view", &a_view},
        {"permute", &a_view},
        {"transpose", &a_view},
        {"expand", &a_view},
        {"squeeze", &a_view},
        {"unsqueeze", &a_view},
        {"getitem", &a_view},
    };
    return translations;
}

// --- modules: the table has their path, not their class

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

bool has(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

bool is_norm(std::string_view name) {
    return has(name, "norm") || has(name, "Norm") || name.starts_with("ln_");
}

/// Layers without a bias in the networks of the table.
bool has_bias(std::string_view name) {
    constexpr std::array<std::string_view, 8> without = {"lm_head", "q", "k", "v", "o", "wi", "wo", "wi_0"};
    return !is_one_of(name, without);
}

bool gives_words(std::string_view name) {
    return name == "lm_head" || name == "decoder";
}

bool maps_features(const FxNode& node) {
    return node.inputs.size() == 1 && node.inputs[0].size() == node.output.size() && !node.output.empty() &&
           std::equal(node.output.begin(), node.output.end() - 1, node.inputs[0].begin());
}

FxCall linear(const FxNode& node) {
    const std::int64_t in = node.inputs[0].back();
    const std::int64_t out = node.output.back();
    std::vector<Argument> arguments = {{"input", f32(node, node.inputs[0])}, {"weight", f32(node, {out, in})}};
    if (has_bias(last_part(node.target))) arguments.push_back({"bias", f32(node, {out})});
    return called("aten::linear", std::move(arguments));
}

FxCall layer_norm(const FxNode& node) {
    const Sizes features{node.output.back()};
    return called("aten::layer_norm", {{"input", f32(node, node.output)},
                                       {"normalized_shape", features},
                                       {"weight", f32(node, features)},
                                       {"bias", f32(node, features)}});
}

/// Positions are looked up in a table of as many; a sentence has two kinds of tokens (BERT). Without a head that gives
/// words the number of words is not known: a row for each index stands in, which forward costs the same.
FxCall module_embedding(const FxNode& node, const FxGraph& graph) {
    const std::string_view name = last_part(node.target);
    std::int64_t rows = 1;
    for (const std::int64_t size : node.inputs[0]) rows = std::max(rows, size);
    if (name == "token_type_embeddings") rows = 2;
    const bool of_positions = has(name, "position") || name == "wpe";
    if (!of_positions && name != "token_type_embeddings" && graph.vocabulary > 0) rows = graph.vocabulary;
    return lookup(node, node.inputs[0], {rows, node.output.back()});
}

/// BERT's pooler has tanh, OPT's feed-forward ReLU.
FxCall activation(const FxNode& node, const FxGraph& graph) {
    return has(node.target, "pooler") ? one_of<tanh_target>(node, graph) : one_of<relu_target>(node, graph);
}

/// A name that an operation's text can hold.
std::string safe(std::string_view text) {
    std::string shown;
    for (const char c : text.substr(0, 60)) {
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
        shown += fits ? c : '_';
    }
    return shown;
}

FxCall unknown(const FxNode& node) {
    const std::string name = safe(node.target);
    Operation operation{"fx::" + name, {}};
    for (std::size_t i = 0; i < node.inputs.size() && i < 16; ++i)
        operation.arguments.push_back({"input" + std::to_string(i), f32(node, node.inputs[i])});
    return {operation, "a node that joulecast has no ATen call for: " + name, false};
}

FxCall module_call(const FxNode& node, const FxGraph& graph) {
    const std::string_view name = last_part(node.target);
    if (node.inputs.size() != 1 || node.output.empty()) return unknown(node);
    const bool keeps_sizes = node.inputs[0] == node.output;
    if (keeps_sizes && is_norm(name)) return layer_norm(node);
    if (keeps_sizes && has(name, "drop")) return dropout(node, graph);
    if (keeps_sizes && has(name, "act")) return activation(node, graph);
    if (node.output.size() == node.inputs[0].size() + 1) return module_embedding(node, graph);
    if (maps_features(node)) return linear(node);
    return unknown(node);
}

}  // namespace

std::int64_t vocabulary(std::span<const FxNode> nodes) {
    std::int64_t most = 0;
    for (const FxNode& node : nodes)
        if (node.call == "call_module" && gives_words(last_part(node.target)) && maps_features(node))
            most = std::max(most, node.output.back());
    return most;
}

bool is_transposition(const FxNode& node) {
    return node.dtype && (node.target == "transpose" || node.target == "permute");
}

FxCall aten_call(const FxNode& node, const FxGraph& graph) {
    const bool takes_tensors = std::ranges::any_of(node.inputs, is_tensor);
    if (!node.dtype || (node.target == "getitem" && !takes_tensors)) return none(python);
    if (node.call == "call_module") return module_call(node, graph);
    const auto known = translations().find(node.target);
    return known == translations().end() ? unknown(node) : known->second(node, graph);
}

}  // namespace joulecast
