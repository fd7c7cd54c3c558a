#include <algorithm>
#include <cmath>

#include "joulecast/graph/readers/onnx_fold.h"

namespace joulecast::onnx {

Patterns::Patterns(Body& body) : body_(body) {
    for (std::size_t i = 0; i < body.nodes.size(); ++i)
        for (const std::string& output : body.nodes[i].outputs)
            if (!output.empty()) makers_.emplace(output, i);
    for (const Tensor& tensor : body.initializers) weights_.emplace(tensor.name, &tensor);
    for (const ValueInfo& output : body.outputs) ++uses_[output.name];
    count(body);
}

/// Uses in branches and bodies count too, whatever the name means there: what is used twice is left alone.
void Patterns::count(const Body& inner) {
    for (const Node& node : inner.nodes) {
        for (const std::string& input : node.inputs) ++uses_[input];
        for (const Attribute& attribute : node.attributes) {
            if (attribute.body == nullptr) continue;
            for (const ValueInfo& output : attribute.body->outputs) ++uses_[output.name];
            count(*attribute.body);
        }
    }
}

const Node* Patterns::maker(const std::string& value, std::string_view op_type) const {
    const auto found = makers_.find(value);
    if (found == makers_.end()) return nullptr;
    const Node& node = body_.nodes[found->second];
    // Patterns look at inputs; only constants have none.
    if (node.inputs.empty() && op_type != "Constant") return nullptr;
    return node.domain.empty() && node.op_type == op_type ? &node : nullptr;
}

const Node* Patterns::only_maker(const std::string& value, std::string_view op_type) const {
    return uses(value) == 1 ? maker(value, op_type) : nullptr;
}

std::size_t Patterns::uses(const std::string& value) const {
    const auto found = uses_.find(value);
    return found == uses_.end() ? 0 : found->second;
}

const Tensor* Patterns::weight(const std::string& value) const {
    // TorchScript's exporter stores equal weights once and gives them their other names by Identity.
    std::string name = value;
    constexpr int longest_chain = 8;
    for (int i = 0; i < longest_chain; ++i) {
        const auto found = weights_.find(name);
        if (found != weights_.end()) return found->second;
        const Node* identity = maker(name, "Identity");
        if (identity == nullptr || identity->inputs.size() != 1) return nullptr;
        name = identity->inputs[0];
    }
    return nullptr;
}

namespace {

const Constant* numbers_of(const Tensor* stored, const Node* constant) {
    if (stored != nullptr) return stored->values ? &*stored->values : nullptr;
    if (constant == nullptr) return nullptr;
    const Attribute* value = constant->find("value");
    return value != nullptr && value->tensor && value->tensor->values ? &*value->tensor->values : nullptr;
}

}  // namespace

std::optional<double> Patterns::number(const std::string& value) const {
    const Node* constant = maker(value, "Constant");
    if (constant != nullptr)
        if (const Attribute* real = constant->find("value_float"); real != nullptr) return real->real;
    const Constant* numbers = numbers_of(weight(value), constant);
    if (numbers == nullptr || numbers->count() != 1) return std::nullopt;
    return numbers->number(0);
}

bool Patterns::is_number(const std::string& value, double wanted) const {
    const auto found = number(value);
    // Half precision has three digits.
    constexpr double tolerance = 2e-3;
    return found && std::fabs(*found - wanted) <= tolerance * std::fabs(wanted);
}

std::optional<Integers> Patterns::integers(const std::string& value) const {
    const Node* constant = maker(value, "Constant");
    if (constant != nullptr) {
        if (const Attribute* single = constant->find("value_int"); single != nullptr && single->integer)
            return Integers{*single->integer};
        if (const Attribute* many = constant->find("value_ints"); many != nullptr) return many->integers;
    }
    const Constant* numbers = numbers_of(weight(value), constant);
    if (numbers == nullptr || numbers->is_real()) return std::nullopt;
    return numbers->integers;
}

void Patterns::replace(const Node& last, std::string op_type, std::vector<std::string> inputs,
                       std::vector<Attribute> attributes) {
    Node& node = body_.nodes[makers_.at(last.outputs.at(0))];
    for (const std::string& input : inputs) ++uses_[input];
    for (const std::string& input : node.inputs) {
        --uses_[input];
        loose_.push_back(input);
    }
    node.op_type = std::move(op_type);
    node.domain = folded_domain;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
}

void Patterns::sweep() {
    std::vector<bool> gone(body_.nodes.size(), false);
    while (!loose_.empty()) {
        const std::string value = std::move(loose_.back());
        loose_.pop_back();
        const auto found = makers_.find(value);
        if (value.empty() || found == makers_.end() || gone[found->second]) continue;
        const Node& node = body_.nodes[found->second];
        if (std::ranges::any_of(node.outputs, [&](const std::string& output) { return uses(output) > 0; })) continue;
        gone[found->second] = true;
        for (const std::string& input : node.inputs) {
            --uses_[input];
            loose_.push_back(input);
        }
    }
    std::size_t index = 0;
    std::erase_if(body_.nodes, [&](const Node&) { return gone[index++]; });
}

}  // namespace joulecast::onnx
