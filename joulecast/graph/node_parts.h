#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// One argument of a node with all that hangs on it, apart from its place in the operation: readers and transforms
/// build nodes out of these.
struct NodePart {
    std::string name;
    Value value;
    /// One per tensor that the value holds.
    std::vector<ValueRef> edges;
    /// Symbolic sizes of these tensors (index: position in `edges`) or of the argument itself (index 0).
    std::vector<SymbolicSize> symbolic;
};

/// The node's arguments taken apart; its target, outputs and their symbolic sizes stay behind. Needs edges.
std::vector<NodePart> take_parts(Node& node);

/// Puts the parts into the node's operation, in canonical form (see canonical()); an argument whose size is symbolic
/// stays even if it equals the default now. Names must be unique.
void assemble(Node& node, std::vector<NodePart> parts);

/// The part of that name, or nullptr.
NodePart* find_part(std::vector<NodePart>& parts, std::string_view name);

}  // namespace joulecast
