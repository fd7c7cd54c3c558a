#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/record.h"

namespace joulecast {

/// What becomes of the elements that a view or a copy hands on, for an engine that has no strides.
enum class Moved {
    no,    ///< another call than a view or a copy
    same,  ///< a tensor of the same type, element by element: a cat of one tensor, contiguous, a dropout that is off
    kept,  ///< as many elements in the same order: a view, a transposition where one dimension has one element
    permuted,  ///< as many in another order
    part,      ///< fewer
    more       ///< more, or those of several tensors
};
std::string_view name_of(Moved moved);
Moved moved(const Graph& graph, const Node& node);

/// What the rules of an engine may know of a call before it is fused.
struct FusionCall {
    Family family = Family::other;
    std::string name;       ///< "add" of aten::add_.Tensor
    std::string readers;    ///< names of the calls that read a result, "conv2d+relu"
    std::string settings;   ///< of a view, its arguments but for tensors: "(dim=1, start=0)"
    std::string_view kind;  ///< its family; "scaling": batch norm, "move": views and copies, "write": into its operand
    Moved moved = Moved::no;
    std::size_t rank = 0;        ///< of the first result
    bool is_arithmetic = false;  ///< on sizes
    bool is_constant = false;    ///< its values depend on no input of the network
    bool is_same = false;        ///< hands on a tensor of the type of its first
    bool is_unary = false;       ///< an element-wise call of one tensor

    /// Computes each element by itself, or only moves it.
    bool is_pointwise() const { return kind == "elementwise" || kind == "scaling" || kind == "move"; }
};

/// How often each value is read, by calls or by the caller.
using ReadCounts = std::map<std::pair<std::int32_t, std::int32_t>, int>;

/// Of each node. The graph has edges.
std::vector<FusionCall> fusion_calls(const Graph& graph);
ReadCounts read_counts(const Graph& graph);

bool is_arithmetic_on_sizes(const Operation& operation);

/// "add" of aten::add_.Tensor.
std::string plain_name(const Operation& operation);

}  // namespace joulecast
