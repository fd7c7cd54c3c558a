#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// A node of a torch.fx graph as NeuSight's tables tell of it: what was called, the sizes of the nodes it takes (no
/// parameters, no literals; what is no tensor has sizes [1], as a scalar has) and of what it returns.
struct FxNode {
    std::string call;    ///< call_function, call_method, call_module
    std::string target;  ///< "matmul", or a module's path
    std::vector<Sizes> inputs;
    Sizes output;
    std::optional<Dtype> dtype;  ///< of the output; absent: no tensor
    bool training = false;
    bool has_backward = false;
};

/// A node's ATen call, or why it makes none.
struct FxCall {
    std::optional<Operation> operation;
    std::string why_none;
    bool is_known = true;  ///< false: a call that this table of calls lacks, as an operation of no record
};

/// What the nodes of one graph tell of each other.
struct FxGraph {
    /// Rows of the table of word embeddings: outputs of the head that gives words. 0: the graph has no such head.
    std::int64_t vocabulary = 0;
    /// The node before, where it swapped two dimensions: what is made contiguous after it is a copy.
    const FxNode* transposed = nullptr;
};

/// Outputs of the linear layer that gives words ("lm_head", "decoder"); 0 without one.
std::int64_t vocabulary(std::span<const FxNode> nodes);
/// Transpose or permute of a tensor.
bool is_transposition(const FxNode& node);

/// The ATen call that the node makes, as the graph readers write it. What the table does not tell is what the layers of
/// these networks have: docs/data.md lists it. Never throws for sizes that do not fit: the operation's record does.
FxCall aten_call(const FxNode& node, const FxGraph& graph);

}  // namespace joulecast
