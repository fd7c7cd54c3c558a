#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/record.h"

namespace joulecast {

/// Whose lists of operations hold: torch.autocast treats a CPU and a GPU differently (softmax and layer_norm run in f32
/// on a GPU, in whatever type arrives on a CPU).
enum class AutocastDevice { cpu, cuda };

/// By the operation's record; torch's own also of operations that have none. Absent for operations that autocast leaves
/// alone: they run in the type that arrives.
std::optional<AutocastPolicy> autocast_policy(std::string_view target, AutocastDevice device);

/// Operations for which torch 2.13 has an autocast kernel ("aten::linear"), and those without one that do nothing but
/// call such an operation; sorted.
std::vector<std::string_view> autocast_targets(AutocastDevice device);

/// The calls that a network makes under torch.autocast: the casts (aten::_to_copy) it inserts, and every other call in
/// the types that arrive then. A parameter is cast once, where its cast is first needed: autocast keeps the casts of
/// leaves that require a gradient, under no_grad too. Whatever else is cast is cast again for every call that needs it.
/// `lower` is f16 or bf16. The graph is one of f32, before to_training(): the gradients of the casts are those of their
/// records. Throws Error for a bag of operations, where nobody knows which types arrive.
Graph autocast(const Graph& graph, Dtype lower, AutocastDevice device);

}  // namespace joulecast
