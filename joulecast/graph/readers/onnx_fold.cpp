#include "joulecast/graph/readers/onnx_fold.h"

#include <algorithm>

namespace joulecast::onnx {

namespace {

/// The other input of a node with two, when one is `value`.
const std::string* other_input(const Node& node, const std::string& value) {
    if (node.inputs.size() != 2) return nullptr;
    if (node.inputs[0] == value) return &node.inputs[1];
    return node.inputs[1] == value ? &node.inputs[0] : nullptr;
}

/// The input that is not `wanted`, when the other one is that number.
const std::string* beside_number(const Patterns& graph, const Node& node, double wanted) {
    if (node.inputs.size() != 2) return nullptr;
    if (graph.is_number(node.inputs[1], wanted)) return node.inputs.data();
    return graph.is_number(node.inputs[0], wanted) ? &node.inputs[1] : nullptr;
}

Attribute integer_attribute(std::string name, std::int64_t value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.integer = value;
    return attribute;
}

Attribute real_attribute(std::string name, double value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.real = value;
    return attribute;
}

Attribute text_attribute(std::string name, std::string value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.text = std::move(value);
    return attribute;
}

/// What a tree of products multiplies, numbers taken together in `factor`; products used elsewhere are leaves.
struct Factors {
    std::vector<std::string> values;
    double factor = 1.0;
};

void collect_factors(const Patterns& graph, const Node& product, Factors& factors, int depth = 0) {
    constexpr int deepest = 4;
    for (const std::string& input : product.inputs) {
        if (const auto number = graph.number(input)) {
            factors.factor *= *number;
        } else if (const Node* inner = graph.only_maker(input, "Mul"); inner != nullptr && depth < deepest) {
            collect_factors(graph, *inner, factors, depth + 1);
        } else {
            factors.values.push_back(input);
        }
    }
}

bool is_near(double a, double b) {
    constexpr double tolerance = 2e-3;
    return a > b * (1.0 - tolerance) && a < b * (1.0 + tolerance);
}

/// x in erf(x / sqrt(2)) + 1
const std::string* inside_erf(const Patterns& graph, const std::string& value) {
    const Node* sum = graph.only_maker(value, "Add");
    const std::string* inner = sum == nullptr ? nullptr : beside_number(graph, *sum, 1.0);
    const Node* erf = inner == nullptr ? nullptr : graph.only_maker(*inner, "Erf");
    if (erf == nullptr || erf->inputs.empty()) return nullptr;
    constexpr double root_of_two = 1.41421356;
    const Node* quotient = graph.only_maker(erf->inputs[0], "Div");
    if (quotient != nullptr && quotient->inputs.size() == 2 && graph.is_number(quotient->inputs[1], root_of_two))
        return quotient->inputs.data();
    const Node* product = graph.only_maker(erf->inputs[0], "Mul");
    return product == nullptr ? nullptr : beside_number(graph, *product, 1.0 / root_of_two);
}

/// x in tanh(sqrt(2 / pi) (x + 0.044715 x^3)) + 1
const std::string* inside_tanh(const Patterns& graph, const std::string& value) {
    const Node* sum = graph.only_maker(value, "Add");
    const std::string* inner = sum == nullptr ? nullptr : beside_number(graph, *sum, 1.0);
    const Node* tanh = inner == nullptr ? nullptr : graph.only_maker(*inner, "Tanh");
    const Node* product = tanh == nullptr ? nullptr : graph.only_maker(tanh->inputs.at(0), "Mul");
    const std::string* polynomial = product == nullptr ? nullptr : beside_number(graph, *product, 0.7978845608);
    const Node* addition = polynomial == nullptr ? nullptr : graph.only_maker(*polynomial, "Add");
    if (addition == nullptr || addition->inputs.size() != 2) return nullptr;
    for (std::size_t i = 0; i < 2; ++i) {
        const Node* cubic = graph.only_maker(addition->inputs[1 - i], "Mul");
        const std::string* cube = cubic == nullptr ? nullptr : beside_number(graph, *cubic, 0.044715);
        const Node* power = cube == nullptr ? nullptr : graph.only_maker(*cube, "Pow");
        if (power != nullptr && power->inputs.size() == 2 && power->inputs[0] == addition->inputs[i] &&
            graph.is_number(power->inputs[1], 3.0))
            return &addition->inputs[i];
    }
    return nullptr;
}

bool fold_gelu(Patterns& graph, const Node& product) {
    Factors factors;
    collect_factors(graph, product, factors);
    if (factors.values.size() != 2 || !is_near(factors.factor, 0.5)) return false;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::string x = factors.values[i];
        if (const std::string* inner = inside_erf(graph, factors.values[1 - i]); inner != nullptr && *inner == x) {
            graph.replace(product, "Gelu", {x});
            return true;
        }
        if (const std::string* inner = inside_tanh(graph, factors.values[1 - i]); inner != nullptr && *inner == x) {
            graph.replace(product, "Gelu", {x}, {text_attribute("approximate", "tanh")});
            return true;
        }
    }
    return false;
}

/// min(max(x + 3, 0), 6), which hard swish divides by six.
bool is_shifted_clip(const Patterns& graph, const std::string& value, const std::string& x) {
    const Node* clip = graph.only_maker(value, "Clip");
    if (clip == nullptr || clip->inputs.empty()) return false;
    const Node* sum = graph.only_maker(clip->inputs[0], "Add");
    const std::string* inner = sum == nullptr ? nullptr : beside_number(graph, *sum, 3.0);
    return inner != nullptr && *inner == x;
}

/// x times a function of x: SiLU, hard swish, Mish.
bool fold_gate(Patterns& graph, const Node& product) {
    if (product.inputs.size() != 2) return false;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::string x = product.inputs[i];
        const std::string& gate = product.inputs[1 - i];
        const auto applies = [&](const char* op_type) {
            const Node* node = graph.only_maker(gate, op_type);
            return node != nullptr && node->inputs.at(0) == x ? node : nullptr;
        };
        const char* folded = nullptr;
        if (applies("Sigmoid") != nullptr) folded = "Silu";
        if (applies("HardSigmoid") != nullptr) folded = "HardSwish";
        const Node* quotient = graph.only_maker(gate, "Div");
        if (quotient != nullptr && quotient->inputs.size() == 2 && graph.is_number(quotient->inputs[1], 6.0) &&
            is_shifted_clip(graph, quotient->inputs[0], x))
            folded = "HardSwish";
        const Node* tanh = graph.only_maker(gate, "Tanh");
        const Node* softplus = tanh == nullptr ? nullptr : graph.only_maker(tanh->inputs.at(0), "Softplus");
        if (softplus != nullptr && softplus->inputs.at(0) == x) folded = "Mish";
        if (folded == nullptr) continue;
        graph.replace(product, folded, {x});
        return true;
    }
    return false;
}

/// Matrix weight of a product, [in, out] or turned by a Transpose.
struct LinearWeight {
    std::string name;
    bool turned = false;
    std::int64_t outputs = 0;
};

std::optional<LinearWeight> linear_weight(const Patterns& graph, const std::string& value) {
    if (const Tensor* weight = graph.weight(value); weight != nullptr && weight->sizes.size() == 2)
        return LinearWeight{weight->name, false, weight->sizes[1]};
    const Node* transpose = graph.maker(value, "Transpose");
    if (transpose == nullptr || transpose->inputs.empty()) return std::nullopt;
    const Tensor* weight = graph.weight(transpose->inputs[0]);
    if (weight == nullptr || weight->sizes.size() != 2) return std::nullopt;
    const Attribute* order = transpose->find("perm");
    if (order != nullptr && order->integers != Integers{1, 0}) return std::nullopt;
    return LinearWeight{weight->name, true, weight->sizes[0]};
}

std::vector<Attribute> turned_attribute(const LinearWeight& weight) {
    return {integer_attribute("transB", weight.turned ? 1 : 0)};
}

bool fold_biased_linear(Patterns& graph, const Node& sum) {
    if (sum.inputs.size() != 2) return false;
    for (std::size_t i = 0; i < 2; ++i) {
        const Node* product = graph.only_maker(sum.inputs[i], "MatMul");
        const Tensor* bias = graph.weight(sum.inputs[1 - i]);
        if (product == nullptr || bias == nullptr || product->inputs.size() != 2) continue;
        const auto weight = linear_weight(graph, product->inputs[1]);
        if (!weight || bias->sizes != Integers{weight->outputs}) continue;
        graph.replace(sum, "Linear", {product->inputs[0], weight->name, bias->name}, turned_attribute(*weight));
        return true;
    }
    return false;
}

bool fold_linear(Patterns& graph, const Node& product) {
    const auto weight = product.inputs.size() == 2 ? linear_weight(graph, product.inputs[1]) : std::nullopt;
    if (!weight || !weight->turned) return false;
    graph.replace(product, "Linear", {product.inputs[0], weight->name, ""}, turned_attribute(*weight));
    return true;
}

/// The mean over the last dimensions: how many they are.
std::optional<std::int64_t> trailing_mean(const Patterns& graph, const Node& mean) {
    if (const Attribute* keeps = mean.find("keepdims"); keeps != nullptr && keeps->integer == 0) return std::nullopt;
    Integers axes;
    if (const Attribute* attribute = mean.find("axes")) axes = attribute->integers;
    if (mean.inputs.size() == 2) axes = graph.integers(mean.inputs[1]).value_or(axes);
    std::ranges::sort(axes);
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i] != static_cast<std::int64_t>(i) - std::ssize(axes)) return std::nullopt;
    return axes.empty() ? std::nullopt : std::optional(std::ssize(axes));
}

/// x in x - mean(x), where `value` is that difference.
const Node* centered(const Patterns& graph, const std::string& value, std::int64_t& dimensions) {
    const Node* difference = graph.maker(value, "Sub");
    if (difference == nullptr || difference->inputs.size() != 2) return nullptr;
    const Node* mean = graph.maker(difference->inputs[1], "ReduceMean");
    if (mean == nullptr || mean->inputs.empty() || mean->inputs[0] != difference->inputs[0]) return nullptr;
    const auto count = trailing_mean(graph, *mean);
    if (!count) return nullptr;
    dimensions = *count;
    return difference;
}

/// The value whose square `value` is.
const std::string* square_root_of(const Patterns& graph, const std::string& value) {
    if (const Node* power = graph.only_maker(value, "Pow"))
        return power->inputs.size() == 2 && graph.is_number(power->inputs[1], 2.0) ? power->inputs.data() : nullptr;
    const Node* product = graph.only_maker(value, "Mul");
    if (product == nullptr || product->inputs.size() != 2 || product->inputs[0] != product->inputs[1]) return nullptr;
    return product->inputs.data();
}

/// (x - mean) / sqrt(mean((x - mean)^2) + eps), then perhaps times a weight and plus a bias.
bool fold_layer_norm(Patterns& graph, const Node& quotient, const std::unordered_map<std::string, const Node*>& users) {
    if (quotient.inputs.size() != 2) return false;
    std::int64_t dimensions = 0;
    const Node* difference = centered(graph, quotient.inputs[0], dimensions);
    const Node* root = graph.only_maker(quotient.inputs[1], "Sqrt");
    if (difference == nullptr || root == nullptr) return false;
    const Node* sum = graph.only_maker(root->inputs.at(0), "Add");
    if (sum == nullptr || sum->inputs.size() != 2) return false;
    const std::size_t number_at = graph.number(sum->inputs[1]) ? 1 : 0;
    const auto epsilon = graph.number(sum->inputs[number_at]);
    const Node* variance = graph.only_maker(sum->inputs[1 - number_at], "ReduceMean");
    if (!epsilon || variance == nullptr || trailing_mean(graph, *variance) != dimensions) return false;
    const std::string* squared = square_root_of(graph, variance->inputs.at(0));
    std::int64_t again = 0;
    const Node* second = squared == nullptr ? nullptr : centered(graph, *squared, again);
    if (second == nullptr || second->inputs[0] != difference->inputs[0] || again != dimensions) return false;

    std::vector<std::string> inputs{difference->inputs[0]};
    const Node* last = &quotient;
    for (const char* op_type : {"Mul", "Add"}) {
        const auto user = users.find(last->outputs.at(0));
        if (user == users.end() || user->second->op_type != op_type || !user->second->domain.empty()) break;
        if (graph.uses(last->outputs[0]) != 1) break;
        const std::string* stored = other_input(*user->second, last->outputs[0]);
        const Tensor* weight = stored == nullptr ? nullptr : graph.weight(*stored);
        if (weight == nullptr || std::ssize(weight->sizes) != dimensions) break;
        inputs.push_back(weight->name);
        last = user->second;
    }
    graph.replace(*last, "LayerNormalization", std::move(inputs),
                  {integer_attribute("axis", -dimensions), real_attribute("epsilon", *epsilon)});
    return true;
}

/// softmax(q k [* scale] [+ mask]) v, also with the softmax of rows without keys set to zero, as torch exports it.
bool fold_attention(Patterns& graph, const Node& product) {
    if (product.inputs.size() != 2) return false;
    std::string weights = product.inputs[0];
    const Node* softmax = nullptr;
    if (const Node* where = graph.only_maker(weights, "Where"); where != nullptr && where->inputs.size() == 3) {
        const Node* test = graph.only_maker(where->inputs[0], "IsNaN");
        softmax = graph.maker(where->inputs[2], "Softmax");
        if (test == nullptr || test->inputs.at(0) != where->inputs[2] || graph.uses(where->inputs[2]) != 2 ||
            graph.number(where->inputs[1]) != 0.0)
            return false;
    } else {
        softmax = graph.only_maker(weights, "Softmax");
    }
    if (softmax == nullptr || softmax->inputs.empty()) return false;
    const Attribute* axis = softmax->find("axis");
    std::string scores = softmax->inputs[0];
    std::string mask;
    if (const Node* sum = graph.only_maker(scores, "Add"); sum != nullptr && sum->inputs.size() == 2) {
        scores = sum->inputs[0];
        mask = sum->inputs[1];
    }
    double scale = 1.0;
    if (const Node* scaled = graph.only_maker(scores, "Mul"); scaled != nullptr && scaled->inputs.size() == 2) {
        const std::size_t at = graph.number(scaled->inputs[1]) ? 1 : 0;
        scale = graph.number(scaled->inputs[at]).value_or(0.0);
        scores = scaled->inputs[1 - at];
    } else if (const Node* divided = graph.only_maker(scores, "Div"); divided != nullptr) {
        const auto divisor = divided->inputs.size() == 2 ? graph.number(divided->inputs[1]) : std::nullopt;
        scale = divisor && *divisor != 0.0 ? 1.0 / *divisor : 0.0;
        scores = divided->inputs.at(0);
    }
    const Node* first = graph.only_maker(scores, "MatMul");
    if (first == nullptr || first->inputs.size() != 2 || scale == 0.0) return false;
    std::vector<Attribute> attributes{real_attribute("scale", scale)};
    if (axis != nullptr && axis->integer) attributes.push_back(integer_attribute("axis", *axis->integer));
    graph.replace(product, "Attention", {first->inputs[0], first->inputs[1], product.inputs[1], mask},
                  std::move(attributes));
    return true;
}

bool fold_reciprocal_root(Patterns& graph, const Node& reciprocal) {
    const Node* root = reciprocal.inputs.empty() ? nullptr : graph.only_maker(reciprocal.inputs[0], "Sqrt");
    if (root == nullptr || root->inputs.empty()) return false;
    graph.replace(reciprocal, "Rsqrt", {root->inputs[0]});
    return true;
}

bool fold_at(Patterns& graph, const Node& node, const std::unordered_map<std::string, const Node*>& users) {
    if (!node.domain.empty() || node.outputs.size() != 1) return false;
    if (node.op_type == "Mul") return fold_gelu(graph, node) || fold_gate(graph, node);
    if (node.op_type == "Add") return fold_biased_linear(graph, node);
    if (node.op_type == "MatMul") return fold_attention(graph, node) || fold_linear(graph, node);
    if (node.op_type == "Div") return fold_layer_norm(graph, node, users);
    if (node.op_type == "Reciprocal") return fold_reciprocal_root(graph, node);
    return false;
}

}  // namespace

void fold(Body& body) {
    Patterns graph(body);
    std::unordered_map<std::string, const Node*> users;
    for (const Node& node : body.nodes)
        for (const std::string& input : node.inputs) users[input] = &node;
    // Sums first: a product with a weight is part of the larger pattern.
    for (const Node& node : body.nodes)
        if (node.op_type == "Add") fold_at(graph, node, users);
    for (const Node& node : body.nodes)
        if (node.op_type != "Add") fold_at(graph, node, users);
    graph.sweep();
}

}  // namespace joulecast::onnx
