#pragma once

#include <cstddef>
#include <vector>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// A tensor that stays until a call of the graph has run, whether anybody reads it any more or not.
struct HeldValue {
    ValueRef value;
    std::size_t last_call = 0;
};

/// What Python holds longer than the graph needs it: a module's arguments stay in the frames that called it until its
/// forward() returns, that is until the last of its calls. Modules are told by module path; without one nothing is
/// held. Local variables of forward() are not known. Only nodes' outputs: a graph's inputs are the caller's anyway.
std::vector<HeldValue> held_by_python(const Graph& graph);

}  // namespace joulecast
