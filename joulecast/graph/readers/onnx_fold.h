#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "joulecast/graph/readers/onnx_model.h"

namespace joulecast::onnx {

/// The domain of the nodes that fold() makes.
inline constexpr const char* folded_domain = "joulecast";

/// Nodes with their edges, as the patterns of fold() look at them.
class Patterns {
  public:
    explicit Patterns(Body& body);

    std::vector<Node>& nodes() { return body_.nodes; }
    /// The node of ONNX's own operators that makes a value; nullptr for inputs, weights and other operators.
    const Node* maker(const std::string& value, std::string_view op_type) const;
    /// The same when nobody else uses the value.
    const Node* only_maker(const std::string& value, std::string_view op_type) const;
    /// Number of a stored or constant value with one element.
    std::optional<double> number(const std::string& value) const;
    bool is_number(const std::string& value, double wanted) const;
    const Tensor* weight(const std::string& value) const;
    /// Integers of a stored value or of a constant.
    std::optional<Integers> integers(const std::string& value) const;
    std::size_t uses(const std::string& value) const;

    /// Puts a node of the folded domain in place of `last`, with its outputs; what is then unused goes.
    void replace(const Node& last, std::string op_type, std::vector<std::string> inputs,
                 std::vector<Attribute> attributes = {});
    /// Removes nodes that were only made for what was replaced.
    void sweep();

  private:
    void count(const Body& inner);

    Body& body_;
    std::unordered_map<std::string, std::size_t> makers_;
    std::unordered_map<std::string, std::size_t> uses_;
    std::unordered_map<std::string, const Tensor*> weights_;
    /// Inputs of replaced nodes: what made them may be unused now.
    std::vector<std::string> loose_;
};

/// Finds what exporters spell out (GELU by erf, layer normalization by means, linear by product and sum, attention by
/// products and softmax) and puts one node in its place, which onnx_ops_folded.cpp translates. FLOPs stay the same.
void fold(Body& body);

}  // namespace joulecast::onnx
